import { type MediaKind, type MediaRef, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** Fields that contain a file, with the media type to assume if Telegram sends none. */
const kinds: readonly (readonly [field: string, kind: MediaKind, mimeType: string])[] = [
  // A GIF has both `animation` and, for older bots, `document`. The first match applies.
  ["animation", "video", "video/mp4"],
  ["document", "file", "application/octet-stream"],
  ["audio", "audio", "audio/mpeg"],
  ["voice", "audio", "audio/ogg"],
  ["voice_note", "audio", "audio/ogg"],
  ["video", "video", "video/mp4"],
  ["video_note", "video", "video/mp4"],
  ["sticker", "sticker", "image/webp"],
];

/** Returns the attachments of a message, or of a block of a rich message. */
export function readAttachments(message: Payload): readonly MediaRef[] {
  const photo = largest(objectsAt(message, "photo"));
  if (photo !== undefined) return reference(photo, "image", "image/jpeg");
  const paid = objectsAt(objectAt(message, "paid_media"), "paid_media").flatMap(readAttachments);
  if (paid.length > 0) return paid;
  for (const [field, kind, mimeType] of kinds) {
    const file = field === "sticker" ? readSticker(message) : objectAt(message, field);
    if (textAt(file, "file_id") !== undefined) return reference(file, kind, mimeType);
  }
  return [];
}

/** Animated stickers are vector graphics or videos, which no model can see. Their thumbnails are images. */
function readSticker(message: Payload): Payload {
  const sticker = objectAt(message, "sticker");
  const thumbnail = objectAt(sticker, "thumbnail");
  const isMoving = sticker["is_animated"] === true || sticker["is_video"] === true;
  return isMoving && textAt(thumbnail, "file_id") !== undefined ? thumbnail : sticker;
}

/** Telegram sends each photo in several sizes. */
function largest(sizes: readonly Payload[]): Payload | undefined {
  const area = (size: Payload) => Number(size["width"]) * Number(size["height"]) || 0;
  return sizes.toSorted((a, b) => area(b) - area(a))[0];
}

function reference(file: Payload, kind: MediaKind, mimeType: string): MediaRef[] {
  const fileId = textAt(file, "file_id");
  if (fileId === undefined) return [];
  const name = textAt(file, "file_name");
  const size = file["file_size"];
  return [
    {
      kind,
      mimeType: textAt(file, "mime_type")?.toLowerCase() ?? mimeType,
      name,
      size: typeof size === "number" && size >= 0 ? size : undefined,
      ref: { fileId },
    },
  ];
}
