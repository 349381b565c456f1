import { type Mention, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** Who the bot is, as `getMe` says. */
export interface Bot {
  readonly id: string;
  readonly name: string;
  /** Without the @. */
  readonly username: string;
}

/** What a message says. */
export interface ReadText {
  /** Formatted stretches as Markdown; without the bot's own mention at the front. */
  readonly text: string;
  readonly mentions: readonly Mention[];
  /** `/name@bot arguments` at the very front. */
  readonly command?: { readonly name: string; readonly args: string; readonly bot?: string };
}

interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly payload: Payload;
}

/** The text or caption of a message, with its entities, which count in UTF-16 units. */
export function readText(message: Payload, bot: Bot): ReadText {
  const isCaption = textAt(message, "text") === undefined;
  const raw = textAt(message, isCaption ? "caption" : "text") ?? "";
  const entities = entitiesOf(message, isCaption ? "caption_entities" : "entities", raw.length);
  const mentions = entities.flatMap((entity) => mentionOf(entity, raw, bot));
  const command = commandOf(entities, raw);
  return {
    text: withoutOwnMention(toMarkdown(raw, entities), bot),
    mentions,
    ...(command === undefined ? {} : { command }),
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

function mentionOf(entity: Entity, raw: string, bot: Bot): Mention[] {
  const words = raw.slice(entity.offset, entity.offset + entity.length);
  if (entity.type === "text_mention") return mentionOfUser(objectAt(entity.payload, "user"), words, bot);
  return entity.type === "mention" ? [mentionOfName(words, bot)] : [];
}

export function mentionOfUser(user: Payload, name: string, bot: Bot): Mention[] {
  const id = String(user["id"] ?? "");
  return id === "" ? [] : [{ id, name, isSelf: id === bot.id }];
}

/** By `@name`, or without the @. Telegram says of others only what they call themselves. */
export function mentionOfName(written: string, bot: Bot): Mention {
  const username = written.replace(/^@/, "");
  const isSelf = username.toLowerCase() === bot.username.toLowerCase();
  return { id: isSelf ? bot.id : `@${username}`, name: username, isSelf };
}

function commandOf(entities: readonly Entity[], raw: string): ReadText["command"] {
  const entity = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  return entity === undefined ? undefined : commandIn(raw, entity.length);
}

/** @param length of the command at the front; 0 where there is none */
export function commandIn(raw: string, length: number): ReadText["command"] {
  if (length === 0) return undefined;
  const [name = "", bot] = raw.slice(1, length).split("@");
  const args = raw.slice(length).trim();
  return { name: name.toLowerCase(), args, ...(bot === undefined ? {} : { bot: bot.toLowerCase() }) };
}

export function withoutOwnMention(text: string, { username }: Bot): string {
  const start = new RegExp(`^\\s*@${username}(?![A-Za-z0-9_])[\\s,:]*`, "i");
  return username === "" ? text : text.replace(start, "");
}

/** How Markdown writes what looks like that. */
export const wraps: ReadonlyMap<string, readonly [before: string, after: string]> = new Map([
  ["bold", ["**", "**"]],
  ["italic", ["*", "*"]],
  ["strikethrough", ["~~", "~~"]],
  ["code", ["`", "`"]],
]);

/** Writes formatted stretches as Markdown; what Markdown has no mark for is left as it is. */
function toMarkdown(raw: string, entities: readonly Entity[]): string {
  const marks = entities.flatMap((entity, order) => {
    const wrap = wrapOf(entity);
    if (wrap === undefined) return [];
    const { offset, length } = entity;
    const end = offset + length;
    return [
      // At one place what ends comes before what begins, the inner end before the
      // outer, the outer start before the inner.
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

export function linkTo(url: string): readonly [string, string] {
  return ["[", `](${/[\s()]/.test(url) ? `<${url}>` : url})`];
}

function wrapOf({ type, payload }: Entity): readonly [string, string] | undefined {
  if (type === "text_link") {
    const url = textAt(payload, "url");
    return url === undefined ? undefined : linkTo(url);
  }
  if (type === "pre") return [`\n\`\`\`${textAt(payload, "language") ?? ""}\n`, "\n```\n"];
  return wraps.get(type);
}
