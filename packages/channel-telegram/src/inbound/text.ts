import { type Mention, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** The bot, as returned by `getMe`. */
export interface Bot {
  readonly id: string;
  readonly name: string;
  /** The user name without the leading @. */
  readonly username: string;
}

/** Text of a message, with its mentions and its command. */
export interface ReadText {
  /** Text with formatting as Markdown. A leading mention of the bot is removed. */
  readonly text: string;
  readonly mentions: readonly Mention[];
  /** `/name@bot arguments` at the start of the text. */
  readonly command?: { readonly name: string; readonly args: string; readonly bot?: string };
}

interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly payload: Payload;
}

/** Reads the text or caption of a message. Entity offsets count UTF-16 code units. */
export function readText(message: Payload, bot: Bot): ReadText {
  const isCaption = textAt(message, "text") === undefined;
  const raw = textAt(message, isCaption ? "caption" : "text") ?? "";
  const entities = entitiesOf(message, isCaption ? "caption_entities" : "entities", raw.length);
  const mentions = entities.flatMap((entity) => readMention(entity, raw, bot));
  const command = findCommand(entities, raw);
  return {
    text: stripOwnMention(writeMarkdown(raw, entities), bot),
    mentions,
    command,
  };
}

function entitiesOf(message: Payload, field: string, length: number): Entity[] {
  return objectsAt(message, field).flatMap((payload) => {
    const { type, offset, length: size } = payload;
    if (typeof type !== "string" || !isIndex(offset) || !isIndex(size)) return [];
    return size === 0 || offset + size > length ? [] : [{ type, offset, length: size, payload }];
  });
}

function isIndex(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

function readMention(entity: Entity, raw: string, bot: Bot): Mention[] {
  const words = raw.slice(entity.offset, entity.offset + entity.length);
  if (entity.type === "text_mention") return mentionUser(objectAt(entity.payload, "user"), words, bot);
  return entity.type === "mention" ? [mentionName(words, bot)] : [];
}

export function mentionUser(user: Payload, name: string, bot: Bot): Mention[] {
  const id = String(user["id"] ?? "");
  return id === "" ? [] : [{ id, name, isSelf: id === bot.id }];
}

/**
 * @param written the user name, with or without the @. Telegram does not send the ids of users who are mentioned this
 * way.
 */
export function mentionName(written: string, bot: Bot): Mention {
  const username = written.replace(/^@/, "");
  const isSelf = username.toLowerCase() === bot.username.toLowerCase();
  return { id: isSelf ? bot.id : `@${username}`, name: username, isSelf };
}

function findCommand(entities: readonly Entity[], raw: string): ReadText["command"] {
  const entity = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  return entity === undefined ? undefined : parseCommand(raw, entity.length);
}

/** @param length of the command at the start, or 0 if there is none */
export function parseCommand(raw: string, length: number): ReadText["command"] {
  if (length === 0) return undefined;
  const [name = "", bot] = raw.slice(1, length).split("@");
  const args = raw.slice(length).trim();
  return { name: name.toLowerCase(), args, bot: bot?.toLowerCase() };
}

export function stripOwnMention(text: string, { username }: Bot): string {
  const start = new RegExp(`^\\s*@${username}(?![A-Za-z0-9_])[\\s,:]*`, "i");
  return username === "" ? text : text.replace(start, "");
}

/** Markdown marks by entity type. */
export const markdownMarks: ReadonlyMap<string, readonly [before: string, after: string]> = new Map([
  ["bold", ["**", "**"]],
  ["italic", ["*", "*"]],
  ["strikethrough", ["~~", "~~"]],
  ["code", ["`", "`"]],
]);

/** Writes formatted ranges as Markdown. Drops formatting that Markdown does not support. */
function writeMarkdown(raw: string, entities: readonly Entity[]): string {
  const marks = entities.flatMap((entity, order) => {
    const wrap = getMarkdownMarks(entity);
    if (wrap === undefined) return [];
    const { offset, length } = entity;
    const end = offset + length;
    return [
      // At the same position, ends come before starts, inner ends before outer ends, and outer starts before
      // inner starts.
      { at: end, rank: -length, order: -order, text: wrap[1], isEnd: true },
      { at: offset, rank: -length, order, text: wrap[0], isEnd: false },
    ];
  });
  marks.sort(
    (a, b) =>
      a.at - b.at ||
      Number(b.isEnd) - Number(a.isEnd) ||
      (a.isEnd ? b.rank - a.rank : a.rank - b.rank) ||
      a.order - b.order,
  );
  let text = "";
  let at = 0;
  for (const mark of marks) {
    text += raw.slice(at, mark.at) + mark.text;
    at = mark.at;
  }
  return text + raw.slice(at);
}

export function getLinkMarks(url: string): readonly [string, string] {
  return ["[", `](${/[\s()]/.test(url) ? `<${url}>` : url})`];
}

function getMarkdownMarks({ type, payload }: Entity): readonly [string, string] | undefined {
  if (type === "text_link") {
    const url = textAt(payload, "url");
    return url === undefined ? undefined : getLinkMarks(url);
  }
  if (type === "pre") return [`\n\`\`\`${textAt(payload, "language") ?? ""}\n`, "\n```\n"];
  return markdownMarks.get(type);
}
