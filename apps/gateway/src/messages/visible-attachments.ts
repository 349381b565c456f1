import type { MessageEvent } from "@signalbox/channel";
import type { AttachmentInfo } from "@signalbox/protocol";

/** Returns a message's attachments as clients see them. */
export function attachmentsSeen({ media }: MessageEvent): { attachments?: AttachmentInfo[] } {
  if (media.length === 0) return {};
  const attachments = media.map(({ name, mimeType, size }) => ({
    mimeType,
    name,
    bytes: size,
  }));
  return { attachments };
}
