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
  const words = [readWritten(message, names), ...readCards(message, names)].filter((text) => text !== "");
  const shared = objectsAt(message, "attachments").filter(isShare);
  return {
    text: stripSelfMentions(normalizeLineEnds(words.join("\n\n")), nameOf(selfId) ?? selfId),
    media: objectsAt(message, "files").flatMap(readFile),
    mentions: findMentionedUsers(message).map((id) => {
      const name = nameOf(id);
      return { id, isSelf: id === selfId, name };
    }),
    references: shared.map((attachment) => readShare(attachment, names)),
  };
}

/** A shared message, or a message to which a link leads. */
function isShare(attachment: Payload): boolean {
  return attachment["is_share"] === true || attachment["is_msg_unfurl"] === true;
}

function isLinkPreview(attachment: Payload): boolean {
  return textAt(attachment, "from_url") !== undefined || attachment["is_app_unfurl"] === true;
}

/**
 * Returns the text of a message without its attachments. Rich text and Markdown blocks contain the entire text. Next to
 * other blocks, the text may be only a notification.
 */
function readWritten(message: Payload, names: Names): string {
  const text = readMarkup(getText(message), names);
  const blocks = readBlocks(message, names);
  const isWhole = objectsAt(message, "blocks").some(
    ({ type }) => type === "rich_text" || type === "markdown",
  );
  if (blocks === "" || contains(text, blocks)) return isWhole ? blocks || text : text;
  return isWhole || contains(blocks, text) ? blocks : `${text}\n${blocks}`;
}

/** Returns true if a text contains another one, apart from formatting. */
function contains(text: string, other: string): boolean {
  const bare = (formatted: string): string => formatted.replace(/[\s*_~`]+/g, "");
  return bare(text).includes(bare(other));
}

/** Returns the text of attachments, which bots use. Ignores link previews and shared messages. */
function readCards(message: Payload, names: Names): readonly string[] {
  return objectsAt(message, "attachments")
    .filter((each) => !isShare(each) && !isLinkPreview(each))
    .map((each) => readCard(each, names));
}

function readCard(attachment: Payload, names: Names): string {
  const fields = objectsAt(attachment, "fields").map(
    (field) => `${textAt(field, "title") ?? ""}: ${textAt(field, "value") ?? ""}`,
  );
  const [pretext, title, text] = ["pretext", "title", "text"].map((key) => textAt(attachment, key));
  const words = [pretext, title, text, ...fields].filter((line) => line).join("\n");
  const lines = [readMarkup(words, names), readBlocks(attachment, names)].filter((line) => line !== "");
  return lines.length > 0 ? lines.join("\n") : readMarkup(textAt(attachment, "fallback") ?? "", names);
}

/** Returns the text of all blocks, regardless of their type. */
function readBlocks(holder: Payload, names: Names): string {
  return objectsAt(holder, "blocks")
    .map((block) => readBlock(block, names))
    .filter((text) => text !== "")
    .join("\n");
}

function readBlock(block: Payload, names: Names): string {
  switch (block["type"]) {
    case "rich_text":
      return richTextToMarkdown(block, names);
    case "markdown":
      return withoutNul(textAt(block, "text") ?? "");
    case "table":
      return readTable(block, names);
    default: {
      const holders = [
        ...["text", "title"].map((key) => objectAt(block, key)),
        ...["fields", "elements"].flatMap((key) => objectsAt(block, key)),
      ];
      return readMarkup(holders.flatMap((words) => textAt(words, "text") ?? []).join("\n"), names);
    }
  }
}

function readTable(table: Payload, names: Names): string {
  const { rows } = table;
  if (!Array.isArray(rows)) return "";
  const read = (cell: Payload): string =>
    cell["type"] === "rich_text" ? richTextToMarkdown(cell, names) : withoutNul(textAt(cell, "text") ?? "");
  return rows
    .map((row: unknown) => `| ${objectsAt({ row }, "row").map(read).join(" | ").replaceAll("\n", " ")} |`)
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

function withoutNul(text: string): string {
  return text.replaceAll("\u0000", "");
}

/** Resolves angle brackets and the three entities of mrkdwn. */
function readMarkup(text: string, names: Names): string {
  return withoutNul(text)
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
  const blocks = objectsAt(attachment, "message_blocks").map((each) =>
    readBlocks(objectAt(each, "message"), names),
  );
  const words = readMarkup(textAt(attachment, "text") ?? "", names) || blocks.join("\n");
  return {
    kind: "forward",
    messageId: channel === undefined || ts === undefined ? undefined : messageId({ channel, ts }),
    sender: id === undefined && name === undefined ? undefined : { id, name },
    timestamp: timeAt(attachment, "ts"),
    text: normalizeLineEnds(words || readMarkup(textAt(attachment, "fallback") ?? "", names)),
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
      size: typeof size === "number" && size >= 0 ? size : undefined,
    },
  ];
}
