import {
  getMediaKind,
  isPayload,
  type MediaRef,
  objectsAt,
  type Payload,
  parseMimeType,
  textAt,
} from "@signalbox/channel";
import type { SignalAddress } from "../address.ts";

/** Reads the attachments and the sticker of a message. Source: `JsonAttachment` and `JsonSticker`. */
export function readAttachments(data: Payload, from: SignalAddress): readonly MediaRef[] {
  const attachments = objectsAt(data, "attachments").map((attachment) => readAttachment(attachment, from));
  const sticker = data["sticker"];
  return isPayload(sticker) ? [...attachments, ...readSticker(sticker)] : attachments;
}

/** @param from the person or group from which the attachment came. signal-cli requires it for the download. */
export function readAttachment(attachment: Payload, from: SignalAddress): MediaRef {
  const mimeType = parseMimeType(textAt(attachment, "contentType"));
  const id = textAt(attachment, "id");
  const { size } = attachment;
  return {
    kind: getMediaKind(mimeType),
    mimeType,
    name: textAt(attachment, "filename"),
    size: typeof size === "number" && size >= 0 ? size : undefined,
    // signal-cli reports no id if it has not downloaded the attachment.
    ref: id === undefined ? null : { id, mimeType, from },
  };
}

function readSticker(sticker: Payload): readonly MediaRef[] {
  const packId = textAt(sticker, "packId");
  const { stickerId } = sticker;
  if (packId === undefined || typeof stickerId !== "number") return [];
  return [{ kind: "sticker", mimeType: "image/webp", ref: { packId, stickerId } }];
}
