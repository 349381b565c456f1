import type { Capabilities, OutboundMediaKind, SendMediaLimit } from "../contract/capabilities.ts";
import { ChannelError, isChannelError } from "../contract/errors.ts";
import type { MediaPart, SendOptions } from "../contract/messages.ts";

/** Creates the `sendMedia` of a platform that accepts any file up to one size limit. */
export function allowAnyMedia(maxBytes: number): Readonly<Record<OutboundMediaKind, SendMediaLimit>> {
  const limit: SendMediaLimit = { maxBytes };
  return { image: limit, audio: limit, video: limit, file: limit };
}

/**
 * Reads the bytes of a media part into memory, for platforms that need an attachment in one piece. The part is checked
 * against the capabilities before it is opened.
 *
 * @throws ChannelError `unsupported` if the channel does not accept the kind or MIME type, or if there is no
 * `openMedia`; `too_large`; `invalid` if the attachment is empty or its length differs from `size`; `transient` if
 * reading fails; and the errors of `openMedia`
 */
export async function readMedia(
  part: MediaPart,
  sendMedia: NonNullable<Capabilities["sendMedia"]>,
  openMedia: SendOptions["openMedia"],
): Promise<Uint8Array<ArrayBuffer>> {
  const limit = sendMedia[part.kind];
  if (limit === undefined || !(limit.mimeTypes?.includes(part.mimeType) ?? true)) {
    throw new ChannelError("unsupported", `A ${part.kind} of type ${part.mimeType} cannot be sent here`);
  }
  if (part.size > limit.maxBytes)
    throw new ChannelError(
      "too_large",
      `The ${part.kind} has ${part.size} bytes; the limit is ${limit.maxBytes}`,
    );
  if (!(part.size > 0)) throw new ChannelError("invalid", "The attachment is empty");
  if (openMedia === undefined) throw new ChannelError("unsupported", "The host cannot open attachments");
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
    throw new ChannelError("transient", "Reading the attachment failed", { cause: error });
  }
  if (length !== part.size) throw wrongLength();
  return bytes;
}

function wrongLength(): ChannelError {
  return new ChannelError("invalid", "The attachment's length differs from the announced length");
}
