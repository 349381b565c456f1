import {
  fitText,
  isPayload,
  type MediaKind,
  type MediaRef,
  normalizeLineEnds,
  type Payload,
  parsePayload,
  textAt,
} from "@signalbox/channel";
import { readPost } from "./post.ts";

/** The content of a message, with the keys of mentions in the text. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
  readonly forwarded: boolean;
}

/** Returns `undefined` for content that does not match its type. For an unknown type, the text contains its name. */
export function readContent(type: string, content: string, messageId: string): Content | undefined {
  const body = parsePayload(content);
  // The content of a merged forward is a sentence instead of JSON.
  if (type === "merge_forward") return { text: "[forwarded messages]", media: [], forwarded: true };
  if (body === undefined) return undefined;
  const said = read(type, body, messageId);
  return said === undefined
    ? undefined
    : { forwarded: false, ...said, text: normalizeLineEnds(said.text.toWellFormed()) };
}

function read(type: string, body: Payload, messageId: string): Omit<Content, "forwarded"> | undefined {
  const media = (kind: MediaKind, key: string | undefined, mimeType?: string) =>
    key === undefined ? undefined : { text: "", media: [mediaRef(kind, key, messageId, body, mimeType)] };
  const words = (text: string) => ({ text, media: [] });
  switch (type) {
    case "text":
      return typeof body["text"] === "string" ? words(body["text"]) : undefined;
    case "post": {
      const post = readPost(body);
      if (post === undefined) return undefined;
      return {
        text: post.text,
        media: post.media.map(({ kind, key }) => mediaRef(kind, key, messageId, {})),
      };
    }
    case "image":
      return media("image", textAt(body, "image_key"));
    case "file":
      return media("file", textAt(body, "file_key"));
    case "audio":
      return media("audio", textAt(body, "file_key"), "audio/ogg");
    case "media":
      return media("video", textAt(body, "file_key"), "video/mp4");
    case "sticker":
      return words("[sticker]");
    case "share_chat":
      return words(`[shared chat ${textAt(body, "chat_id") ?? ""}]`);
    case "share_user":
      return words(`[contact card ${textAt(body, "user_id") ?? ""}]`);
    case "location":
      return words(
        `[location ${textAt(body, "name") ?? ""} ${textAt(body, "latitude")},${textAt(body, "longitude")}]`,
      );
    case "interactive":
      return words(cardText(body) || "[card]");
    default:
      return words(`[${type.slice(0, 40)} message]`);
  }
}

/** Creates a reference for `fetchMedia`. */
function mediaRef(
  kind: MediaKind,
  key: string,
  messageId: string,
  body: Payload,
  mimeType?: string,
): MediaRef {
  const name = textAt(body, "file_name");
  return {
    kind,
    mimeType: mimeType ?? "application/octet-stream",
    name,
    ref: { messageId, key, type: kind === "image" ? "image" : "file" },
  };
}

const deepest = 12;
const longest = 20_000;

/** Returns the text of a card, regardless of its layout. */
function cardText(card: Payload): string {
  const words: string[] = [];
  let length = 0;
  const visit = (value: unknown, depth: number): void => {
    if (depth > deepest || length > longest) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, depth + 1);
      return;
    }
    if (!isPayload(value)) return;
    for (const key of ["title", "content", "text"]) {
      const text = textAt(value, key);
      if (text !== undefined) {
        words.push(text);
        length += text.length;
      }
    }
    for (const inner of Object.values(value)) if (typeof inner === "object") visit(inner, depth + 1);
  };
  visit(card, 0);
  return fitText(words.join("\n"), { max: longest, unit: "utf16" });
}
