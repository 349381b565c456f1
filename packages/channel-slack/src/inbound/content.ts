import {
  getMediaKind,
  type MediaRef,
  type Mention,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  parseMimeType,
  type Reference,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { messageId } from "../address.ts";
import { type Names, richTextToMarkdown } from "./rich-text.ts";

/** Content of a message. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
  readonly mentions: readonly Mention[];
  /** The messages that this message shares. */
  readonly references: readonly Reference[];
}

/** Returns the ids of the mentioned users without duplicates. */
export function findMentionedUsers(message: Payload): readonly string[] {
  const ids = [...new Set([...getText(message).matchAll(userMention)].map(([, id = ""]) => id))];
  return ids.filter((id) => id !== "");
}

const userMention = /<@([UW][A-Z0-9_]*)(?:\|[^>]*)?>/g;

/** @param nameOf returns a user's name, if known */
export function readContent(
  message: Payload,
  nameOf: (id: string) => string | undefined,
  selfId: string,
): Content {
  const names: Names = { user: (id) => (id === selfId ? SELF_MARK : `@${nameOf(id) ?? id}`) };
  const [richText] = objectsAt(message, "blocks").filter(({ type }) => type === "rich_text");
  const written = richText === undefined ? "" : richTextToMarkdown(richText, names);
  const words = written || readMarkup(getText(message) || readCards(message), names);
  const shared = objectsAt(message, "attachments").filter((each) => each["is_share"] === true);
  return {
    text: stripSelfMentions(normalizeLineEnds(words), nameOf(selfId) ?? selfId),
    media: objectsAt(message, "files").flatMap(readFile),
    mentions: findMentionedUsers(message).map((id) => {
      const name = nameOf(id);
      return { id, isSelf: id === selfId, name };
    }),
    references: shared.map((attachment) => readShare(attachment, names)),
  };
}

/** Returns the text in blocks and attachments, which bots use. Ignores link previews and shared messages. */
function readCards(message: Payload): string {
  const own = objectsAt(message, "attachments").filter(
    (each) => each["is_share"] !== true && textAt(each, "from_url") === undefined,
  );
  return [readBlocks(message), ...own.map(readCard)].filter((text) => text !== "").join("\n\n");
}

function readCard(attachment: Payload): string {
  const fields = objectsAt(attachment, "fields").map(
    (field) => `${textAt(field, "title") ?? ""}: ${textAt(field, "value") ?? ""}`,
  );
  const [pretext, title, text] = ["pretext", "title", "text"].map((key) => textAt(attachment, key));
  const lines = [pretext, title, text, ...fields, readBlocks(attachment)].filter((line) => line);
  return lines.length > 0 ? lines.join("\n") : (textAt(attachment, "fallback") ?? "");
}

/** Returns the text of headers, sections and contexts. */
function readBlocks(holder: Payload): string {
  return objectsAt(holder, "blocks")
    .flatMap((block) => [
      objectAt(block, "text"),
      ...objectsAt(block, "fields"),
      ...objectsAt(block, "elements"),
    ])
    .flatMap((words) => textAt(words, "text") ?? [])
    .join("\n");
}

function getText(message: Payload): string {
  return textAt(message, "text") ?? "";
}

/** Placeholder for a mention of the bot. NUL cannot occur in the text. */
const SELF_MARK = "\u0000";

/** Removes leading mentions of the bot and writes all other mentions as `@name`. */
function stripSelfMentions(text: string, name: string): string {
  let rest = text.trimStart();
  while (rest.startsWith(SELF_MARK)) rest = rest.slice(SELF_MARK.length).replace(/^[\s:,]+/, "");
  return rest.replaceAll(SELF_MARK, `@${name}`).trimEnd();
}

/** Resolves angle brackets and the three entities of mrkdwn. */
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

/** Source: the attachment that Slack adds for a shared message. */
function readShare(attachment: Payload, names: Names): Reference {
  const [channel, ts] = [textAt(attachment, "channel_id"), textAt(attachment, "ts")];
  const id = textAt(attachment, "author_id");
  const name = textAt(attachment, "author_name");
  const words = textAt(attachment, "text");
  return {
    kind: "forward",
    messageId: channel === undefined || ts === undefined ? undefined : messageId({ channel, ts }),
    sender: id === undefined && name === undefined ? undefined : { id, name },
    timestamp: timeAt(attachment, "ts"),
    text: normalizeLineEnds(readMarkup(words ?? textAt(attachment, "fallback") ?? "", names)),
    media: objectsAt(attachment, "files").flatMap(readFile),
  };
}

/** Reads a file, unless it was deleted or the workspace's free plan hides it. */
function readFile(file: Payload): readonly MediaRef[] {
  const id = textAt(file, "id");
  const mode = textAt(file, "mode");
  if (id === undefined || mode === "tombstone" || mode === "hidden_by_limit") return [];
  const mimeType = parseMimeType(textAt(file, "mimetype"));
  const url = textAt(file, "url_private_download") ?? textAt(file, "url_private");
  const name = textAt(file, "name");
  const size = file["size"];
  return [
    {
      // Slack sends audio clips with a video type.
      kind: textAt(file, "subtype") === "slack_audio" ? "audio" : getMediaKind(mimeType),
      mimeType,
      ref: url === undefined ? { id } : { id, url },
      name,
      ...(typeof size === "number" && size >= 0 ? { size } : {}),
    },
  ];
}
