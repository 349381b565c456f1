import {
  type MediaRef,
  type Mention,
  mediaKindOf,
  mimeTypeOf,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { type Names, richTextToMarkdown } from "./rich-text.ts";

/** What a message says, without who wrote it. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
  readonly mentions: readonly Mention[];
  /** It passes on what somebody else wrote. */
  readonly forwarded?: { readonly from?: string };
}

/** The ids of the people that a message mentions, each once. */
export function mentionedIn(message: Payload): readonly string[] {
  const ids = [...new Set([...writtenText(message).matchAll(userMention)].map(([, id = ""]) => id))];
  return ids.filter((id) => id !== "");
}

const userMention = /<@([UW][A-Z0-9_]*)(?:\|[^>]*)?>/g;

/** @param nameOf a person's name, where it is known */
export function readContent(
  message: Payload,
  nameOf: (id: string) => string | undefined,
  selfId: string,
): Content {
  const names: Names = { user: (id) => (id === selfId ? selfMark : `@${nameOf(id) ?? id}`) };
  const [richText] = objectsAt(message, "blocks").filter(({ type }) => type === "rich_text");
  const written = richText === undefined ? "" : richTextToMarkdown(richText, names);
  const words = written || readMarkup(writtenText(message) || cardText(message), names);
  const shared = objectsAt(message, "attachments").filter((each) => each["is_share"] === true);
  const quotes = shared.map((each) => quoted(readMarkup(textAt(each, "text") ?? "", names)));
  const text = [words, ...quotes].filter((each) => each.trim() !== "").join("\n\n");
  const from = shared[0] === undefined ? undefined : textAt(shared[0], "author_id");
  return {
    text: withoutSelf(normalizeLineEnds(text), nameOf(selfId) ?? selfId),
    media: objectsAt(message, "files").flatMap(readFile),
    mentions: mentionedIn(message).map((id) => {
      const name = nameOf(id);
      return { id, isSelf: id === selfId, ...(name === undefined ? {} : { name }) };
    }),
    ...(shared.length === 0 ? {} : { forwarded: from === undefined ? {} : { from } }),
  };
}

/** Bots write in blocks and attachments; what Slack adds to a link, and what is passed on, are no words of theirs. */
function cardText(message: Payload): string {
  const own = objectsAt(message, "attachments").filter(
    (each) => each["is_share"] !== true && textAt(each, "from_url") === undefined,
  );
  return [blocksText(message), ...own.map(attachmentText)].filter((text) => text !== "").join("\n\n");
}

function attachmentText(attachment: Payload): string {
  const fields = objectsAt(attachment, "fields").map(
    (field) => `${textAt(field, "title") ?? ""}: ${textAt(field, "value") ?? ""}`,
  );
  const [pretext, title, text] = ["pretext", "title", "text"].map((key) => textAt(attachment, key));
  const lines = [pretext, title, text, ...fields, blocksText(attachment)].filter((line) => line);
  return lines.length > 0 ? lines.join("\n") : (textAt(attachment, "fallback") ?? "");
}

/** The words of headers, sections and contexts. */
function blocksText(holder: Payload): string {
  return objectsAt(holder, "blocks")
    .flatMap((block) => [
      objectAt(block, "text"),
      ...objectsAt(block, "fields"),
      ...objectsAt(block, "elements"),
    ])
    .flatMap((words) => textAt(words, "text") ?? [])
    .join("\n");
}

function writtenText(message: Payload): string {
  return textAt(message, "text") ?? "";
}

/** Stands for the bot's mention until it is known where in the text it is; people cannot write it. */
const selfMark = "\u0000";

/** Takes the bot's own mentions off the front, and writes the others as `@name`. */
function withoutSelf(text: string, name: string): string {
  let rest = text.trimStart();
  while (rest.startsWith(selfMark)) rest = rest.slice(selfMark.length).replace(/^[\s:,]+/, "");
  return rest.replaceAll(selfMark, `@${name}`).trimEnd();
}

/** Slack's markup in angle brackets, and its three entities. */
function readMarkup(text: string, names: Names): string {
  return text
    .replaceAll("\u0000", "")
    .replace(/<([^<>|]+)(?:\|([^<>]*))?>/g, (_, target: string, label = "") =>
      readTarget(target, label, names),
    )
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function readTarget(target: string, label: string, names: Names): string {
  if (/^@[UW]/.test(target)) return names.user(target.slice(1));
  if (target.startsWith("#")) return `#${label || target.slice(1)}`;
  if (target.startsWith("!subteam^")) return label || `@${target.slice("!subteam^".length)}`;
  if (target.startsWith("!")) return label || `@${target.slice(1).split("^")[0]}`;
  return label === "" || label === target.replace(/^mailto:/, "") ? label || target : `[${label}](${target})`;
}

function quoted(text: string): string {
  return text.trim() === "" ? "" : text.replace(/^/gm, "> ");
}

/** Files that Slack keeps for this message; none for what is deleted, or hidden from a free workspace. */
function readFile(file: Payload): readonly MediaRef[] {
  const id = textAt(file, "id");
  const mode = textAt(file, "mode");
  if (id === undefined || mode === "tombstone" || mode === "hidden_by_limit") return [];
  const mimeType = mimeTypeOf(textAt(file, "mimetype"));
  const url = textAt(file, "url_private_download") ?? textAt(file, "url_private");
  const name = textAt(file, "name");
  const size = file["size"];
  return [
    {
      // Slack writes a clip that was only spoken as a video.
      kind: textAt(file, "subtype") === "slack_audio" ? "audio" : mediaKindOf(mimeType),
      mimeType,
      ref: url === undefined ? { id } : { id, url },
      ...(name === undefined ? {} : { name }),
      ...(typeof size === "number" && size >= 0 ? { size } : {}),
    },
  ];
}
