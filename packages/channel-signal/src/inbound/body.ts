import {
  isPayload,
  type Mention,
  type MessageBody,
  normalizeLineEnds,
  objectsAt,
  type Payload,
  type Reference,
  textAt,
} from "@signalbox/channel";
import { formatMessageId, personAt, type Self, type SignalAddress } from "../address.ts";
import { readAttachment, readAttachments } from "./attachments.ts";
import { describeSpecialContent } from "./special-content.ts";
import { type MarkedRange, type ReplacedRange, writeMarkdown } from "./styles.ts";

/** Facts for reading a message. */
export interface BodyFacts {
  readonly self: Self;
  /** Names of mentioned people by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Reads the content of a message. Source: `JsonDataMessage`. */
export function readBody(data: Payload, from: SignalAddress, facts: BodyFacts): MessageBody {
  const mentions = readMentions(data, facts);
  const media = readAttachments(data, from);
  const captions = objectsAt(data, "attachments").flatMap((one) => textAt(one, "caption") ?? []);
  const words = readText(data, "message", mentions) || captions.join("\n");
  const special = describeSpecialContent(data);
  const quote = data["quote"];
  const reply = isPayload(quote) ? readQuote(quote, from, facts) : undefined;
  return {
    text: normalizeLineEnds([words, special].filter((part) => part !== "").join("\n")),
    media,
    mentions: mentions.map(({ mention }) => mention),
    references: reply === undefined ? undefined : [reply],
  };
}

/** Returns the ids of the people that a message mentions. */
export function listMentioned(data: Payload, self: Self): readonly string[] {
  const quote = data["quote"];
  const mentions = [
    ...objectsAt(data, "mentions"),
    ...(isPayload(quote) ? objectsAt(quote, "mentions") : []),
  ];
  const ids = mentions.flatMap((mention) => personAt(mention, "", self) ?? []);
  return [...new Set(ids)].filter((id) => id !== self.account);
}

interface PlacedMention {
  readonly mention: Mention;
  readonly start: number;
  readonly length: number;
}

/** Reads the mentions. In the text, each is a placeholder (U+FFFC). Source: `JsonMention`. */
function readMentions(data: Payload, { self, names }: BodyFacts): readonly PlacedMention[] {
  return objectsAt(data, "mentions").flatMap((mention) => {
    const id = personAt(mention, "", self);
    if (id === undefined) return [];
    const name = names.get(id) ?? textAt(mention, "number") ?? id;
    const isSelf = id === self.account;
    return [
      { mention: { id, name, isSelf }, start: Number(mention["start"]), length: Number(mention["length"]) },
    ];
  });
}

/** Returns the text with styles as Markdown, mentions as `@name`, and without a leading mention of the bot. */
function readText(data: Payload, field: string, mentions: readonly PlacedMention[]): string {
  const raw = textAt(data, field) ?? "";
  const styles = objectsAt(data, "textStyles").map(
    ({ start, length, style }): MarkedRange => ({
      start: Number(start),
      length: Number(length),
      style: String(style),
    }),
  );
  const leading = raw.length - raw.trimStart().length;
  const replaced = mentions.map(({ mention, start, length }): ReplacedRange => {
    const isLeading = mention.isSelf && start === leading;
    return { start, length, text: isLeading ? "" : `@${mention.name}` };
  });
  const text = writeMarkdown(raw, styles, replaced);
  return replaced.some((range) => range.text === "") ? text.replace(/^[\s,:]+/, "") : text;
}

/** Reads the quoted message. Source: `JsonQuote`. */
function readQuote(quote: Payload, from: SignalAddress, facts: BodyFacts): Reference | undefined {
  const author = personAt(quote, "author", facts.self);
  const { id } = quote;
  if (author === undefined || typeof id !== "number" || !Number.isSafeInteger(id) || id <= 0)
    return undefined;
  const isSelf = author === facts.self.account;
  const text = readText(quote, "text", readMentions(quote, facts));
  return {
    kind: "reply",
    messageId: formatMessageId(id, author),
    sender: { id: author, ...(isSelf ? { isSelf, isBot: true } : {}) },
    timestamp: id,
    text: text === "" ? undefined : normalizeLineEnds(text),
    media: objectsAt(quote, "attachments").flatMap(({ thumbnail, ...attachment }) =>
      isPayload(thumbnail) ? readAttachment({ ...attachment, ...thumbnail }, from) : [],
    ),
  };
}
