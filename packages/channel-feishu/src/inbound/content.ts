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
      return words(cardText(body) || CARD);
    default:
      // Votes, tasks, invitations and the like have different members.
      return words([`[${type.slice(0, 40)} message]`, cardText(body)].filter(Boolean).join("\n"));
  }
}

/** Text of a card without any words. */
export const CARD = "[card]";

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

/** Members of cards, votes, tasks and invitations that contain words. */
const WORDS = ["title", "topic", "content", "text", "summary"];

/** Returns the text of a card, regardless of its layout. */
function cardText(card: Payload): string {
  // The card may be a text in another object.
  const sent = parsePayload(textAt(card, "user_dsl") ?? "");
  return sent === undefined ? readWords(card) : cardText(sent);
}

function readWords(card: Payload): string {
  const words: string[] = [];
  let length = 0;
  const add = (text: string | undefined): void => {
    if (text === undefined) return;
    words.push(text);
    length += text.length;
  };
  const addValue = (value: unknown): void => {
    if (typeof value === "string" || typeof value === "number") add(String(value));
  };
  const addValues = (value: unknown): void => {
    if (isPayload(value)) for (const one of Object.values(value)) addValue(one);
  };
  const visit = (value: unknown, depth: number): void => {
    if (depth > deepest || length > longest) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, depth + 1);
      return;
    }
    if (!isPayload(value)) return;
    for (const key of WORDS) add(textAt(value, key));
    for (const [key, inner] of Object.entries(value)) {
      if (key === "options" && Array.isArray(inner)) for (const option of inner) addValue(option);
      // A table has one object per row, and a template has one with its variables.
      if (key === "rows" && Array.isArray(inner)) for (const row of inner) addValues(row);
      if (key === "template_variable") addValues(inner);
      else if (typeof inner === "object") visit(inner, depth + 1);
    }
  };
  visit(card, 0);
  return fitText(words.join("\n"), { max: longest, unit: "utf16" });
}
