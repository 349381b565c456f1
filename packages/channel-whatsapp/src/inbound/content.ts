import {
  type MediaKind,
  type MediaRef,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  parseMimeType,
  textAt,
} from "@signalbox/channel";

/** Text and attachments of a message. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
}

/** Message types that contain a file, and the type to assume if Meta sends none. */
const FILES: Readonly<Record<string, readonly [kind: MediaKind, mimeType: string]>> = {
  image: ["image", "image/jpeg"],
  audio: ["audio", "audio/ogg"],
  voice: ["audio", "audio/ogg"],
  video: ["video", "video/mp4"],
  document: ["file", "application/octet-stream"],
  sticker: ["sticker", "image/webp"],
};

/** Reads the content of a message. Source: Meta's `IncomingMessage`. */
export function readContent(message: Payload): Content {
  const type = textAt(message, "type") ?? "";
  const content = objectAt(message, type);
  const file = FILES[type];
  const text = file === undefined ? readText(type, message) : textAt(content, "caption");
  return {
    text: normalizeLineEnds(text ?? ""),
    media: file === undefined ? [] : readFile(content, ...file),
  };
}

function readFile(content: Payload, kind: MediaKind, fallback: string): readonly MediaRef[] {
  const id = textAt(content, "id");
  if (id === undefined) return [];
  const type = textAt(content, "mime_type");
  const mimeType = type === undefined ? fallback : parseMimeType(type);
  return [{ kind, mimeType, name: textAt(content, "filename"), ref: { id } }];
}

/** Returns what a person wrote or chose, or a description in brackets of content that is not text. */
function readText(type: string, message: Payload): string | undefined {
  const content = objectAt(message, type);
  switch (type) {
    case "text":
      return textAt(content, "body");
    case "button":
      return textAt(content, "text");
    case "interactive":
      return readInteractive(content);
    case "location":
      return describeLocation(content);
    case "contacts":
      return objectsAt(message, "contacts").map(describeContact).join("\n");
    case "order":
      return describeOrder(content);
    case "request_welcome":
      return "[opened the conversation]";
    default:
      return describeUnsupported(message);
  }
}

/** Returns the title of a choice that this channel did not offer, or the answers of a form. */
function readInteractive(content: Payload): string | undefined {
  const reply = objectAt(content, textAt(content, "type") ?? "");
  return textAt(reply, "title") ?? textAt(reply, "response_json") ?? textAt(reply, "body");
}

function describeLocation(location: Payload): string {
  const { latitude, longitude } = location;
  const place = [textAt(location, "name"), textAt(location, "address")];
  const position = typeof latitude === "number" && typeof longitude === "number" ? [latitude, longitude] : [];
  return `[location: ${[...place.filter((word) => word !== undefined), ...position].join(", ")}]`;
}

function describeContact(contact: Payload): string {
  const name = textAt(objectAt(contact, "name"), "formatted_name");
  const phones = objectsAt(contact, "phones").map(
    (phone) => textAt(phone, "phone") ?? textAt(phone, "wa_id"),
  );
  const emails = objectsAt(contact, "emails").map((email) => textAt(email, "email"));
  return `[contact: ${[name, ...phones, ...emails].filter((word) => word !== undefined).join(" ")}]`;
}

function describeOrder(order: Payload): string {
  const items = objectsAt(order, "product_items").map((item) => {
    const product = textAt(item, "product_retailer_id") ?? "product";
    const { quantity, item_price: price } = item;
    return `${Number(quantity)} × ${product} (${Number(price)} ${textAt(item, "currency") ?? ""})`;
  });
  const description = `[order: ${items.join("; ")}]`;
  const note = textAt(order, "text");
  return note === undefined ? description : `${note}\n${description}`;
}

function describeUnsupported(message: Payload): string {
  const [error] = objectsAt(message, "errors");
  const details = error && (textAt(objectAt(error, "error_data"), "details") ?? textAt(error, "title"));
  return details === undefined ? "[unsupported message]" : `[unsupported message: ${details}]`;
}
