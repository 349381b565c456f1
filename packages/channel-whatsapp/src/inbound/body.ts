import {
  type MessageBody,
  normalizeLineEnds,
  objectAt,
  type Payload,
  type Reference,
  textAt,
} from "@signalbox/channel";
import { readContent } from "./content.ts";

/** The business, for recognizing references to its own messages. */
export interface Own {
  /** The digits of the business's number. */
  readonly number: string;
  readonly phoneNumberId: string;
}

/** Reads the content of a message. Forwarded content becomes a reference, and a mention of the business a mention. */
export function readBody(message: Payload, own: Own): MessageBody {
  const { text, media } = readContent(message);
  const context = objectAt(message, "context");
  const isForwarded = context["forwarded"] === true || context["frequently_forwarded"] === true;
  const reply = readReply(context, own);
  const ad = readAd(objectAt(message, "referral"));
  const others = [reply, ad].filter((reference) => reference !== undefined);
  if (isForwarded && (text !== "" || media.length > 0))
    return withReferences({ text: "", media: [], mentions: [] }, [
      ...others,
      { kind: "forward", text, media },
    ]);
  return withReferences(readMention(text, media, own), others);
}

function withReferences(body: MessageBody, references: readonly Reference[]): MessageBody {
  return references.length === 0 ? body : { ...body, references };
}

/** In groups, a mention is written as `@` and the digits of the number. */
function readMention(text: string, media: MessageBody["media"], { number, phoneNumberId }: Own): MessageBody {
  const mention = new RegExp(`(^|[^\\w@])@${number}(?!\\w)`);
  if (number === "" || !mention.test(text)) return { text, media, mentions: [] };
  const start = new RegExp(`^\\s*@${number}[\\s,:]*`);
  return { text: text.replace(start, ""), media, mentions: [{ id: phoneNumberId, isSelf: true }] };
}

/** Reads the message that this one replies to. Meta sends only its id and author. */
function readReply(context: Payload, { number, phoneNumberId }: Own): Reference | undefined {
  const messageId = textAt(context, "id");
  if (messageId === undefined) return undefined;
  const from = textAt(context, "from")?.replace(/\D/g, "");
  const isSelf = from !== undefined && from === number;
  const product = textAt(objectAt(context, "referred_product"), "product_retailer_id");
  return {
    kind: "reply",
    messageId,
    sender: from ? { id: isSelf ? phoneNumberId : from, isSelf } : undefined,
    text: product === undefined ? undefined : normalizeLineEnds(`[product: ${product}]`),
  };
}

/** Reads the advertisement or post through which a person started the conversation. */
function readAd(referral: Payload): Reference | undefined {
  const words = ["headline", "body", "source_url"].map((field) => textAt(referral, field));
  const text = words.filter((word) => word !== undefined).join("\n");
  return text === "" ? undefined : { kind: "forward", text: normalizeLineEnds(text) };
}
