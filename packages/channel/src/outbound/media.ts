import type { Capabilities, OutboundMediaKind, SendMediaLimit } from "../contract/capabilities.ts";
import { ChannelError, isChannelError } from "../contract/errors.ts";
import type { MediaPart, SendOptions } from "../contract/messages.ts";

/** For platforms that take any file up to one size, and see by themselves what it is. */
export function anyMediaUpTo(maxBytes: number): Readonly<Record<OutboundMediaKind, SendMediaLimit>> {
  const limit: SendMediaLimit = { maxBytes };
  return { image: limit, audio: limit, video: limit, file: limit };
}

/**
 * The bytes of a media part, checked against what the channel claims to take before they are opened. For channels
 * whose platform wants an attachment in one piece.
 *
 * @throws ChannelError `unsupported` for a kind or type the channel does not take, and where the host gives no bytes;
 * `too_large`; `invalid` for an empty attachment and one that is not as long as it says; `transient` where the bytes
 * break off; what `openMedia` throws
 */
export async function readMedia(
  part: MediaPart,
  sendMedia: NonNullable<Capabilities["sendMedia"]>,
  openMedia: SendOptions["openMedia"],
): Promise<Uint8Array<ArrayBuffer>> {
  const limit = sendMedia[part.kind];
  if (limit === undefined || !(limit.mimeTypes?.includes(part.mimeType) ?? true)) {
    throw new ChannelError("unsupported", `No ${part.kind} of type ${part.mimeType} can be sent here`);
  }
  if (part.size > limit.maxBytes)
    throw new ChannelError("too_large", `${part.size} bytes; a ${part.kind} has at most ${limit.maxBytes}`);
  if (!(part.size > 0)) throw new ChannelError("invalid", "An empty attachment");
  if (openMedia === undefined) throw new ChannelError("unsupported", "The host gives no attachments out");
  const bytes = new Uint8Array(part.size);
  let length = 0;
  try {
    for await (const chunk of await openMedia(part)) {
      if (length + chunk.byteLength > part.size) throw wrongLength();
      bytes.set(chunk, length);
      length += chunk.byteLength;
    }
  } catch (error) {
    if (isChannelError(error)) throw error;
    throw new ChannelError("transient", "The attachment broke off", { cause: error });
  }
  if (length !== part.size) throw wrongLength();
  return bytes;
}

function wrongLength(): ChannelError {
  return new ChannelError("invalid", "The attachment is not as long as it says");
}
