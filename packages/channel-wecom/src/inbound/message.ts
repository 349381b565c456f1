import {
  type Conversation,
  type EventBase,
  type EventFacts,
  eventBase,
  type MessageEvent,
  objectAt,
  type Payload,
  type Reference,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { addressCodec, formatMessageId, type WecomAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { readContent } from "./content.ts";

/** A message callback. */
export interface MessageCallback {
  readonly body: Payload;
  /** Absent with the webhook transport. */
  readonly reqId?: string | undefined;
}

/**
 * Converts a message callback to an event. Source: document/path/100719. WeCom sends messages of groups only if they
 * mention the bot.
 *
 * @param name the bot's name, if it is configured
 * @returns `undefined` for a malformed callback
 */
export function toMessageEvent(
  { body, reqId }: MessageCallback,
  facts: EventFacts,
  name?: string,
): MessageEvent | undefined {
  const msgid = textAt(body, "msgid");
  const sender = textAt(objectAt(body, "from"), "userid");
  if (msgid === undefined || sender === undefined) return undefined;
  const address = readAddress(body, sender);
  if (address === undefined) return undefined;
  const isGroup = address.type === "group";
  const { text, media } = readContent(body);
  const reference = readQuote(body);
  const base = createBase(body, facts, { eventId: msgid, address, sender });
  return {
    ...base,
    type: "message",
    messageId: formatMessageId({ msgid, reqId, sentAt: base.timestamp }),
    addressed: isGroup ? "mention" : "dm",
    text: isGroup ? removeMention(text, name) : text,
    media: media.slice(0, limits.mediaPerMessage),
    mentions: isGroup ? [{ id: textAt(body, "aibotid") ?? facts.botId, isSelf: true }] : [],
    ...(reference && { references: [reference] }),
  };
}

function readAddress(body: Payload, sender: string): WecomAddress | undefined {
  const chatId = textAt(body, "chatid");
  if (body["chattype"] === "single") return { type: "single", id: sender };
  return chatId === undefined ? undefined : { type: "group", id: chatId };
}

function createBase(
  payload: Payload,
  facts: EventFacts,
  { eventId, address, sender }: { eventId: string; address: WecomAddress; sender: string },
): EventBase {
  const conversation: Conversation = { id: address.id, kind: address.type === "group" ? "group" : "direct" };
  return eventBase("wecom", facts, {
    eventId,
    conversation,
    address: addressCodec.encode(address),
    sender: { id: sender, isBot: false, isSelf: false },
    timestamp: timeAt(payload, "create_time"),
    payload: withoutSecrets(payload),
  });
}

/** The URL for a reply is a credential: whoever knows it can write as the bot. */
function withoutSecrets({ response_url: _, ...payload }: Payload): Payload {
  return payload;
}

/** WeCom sends neither the id nor the author of a quoted message. */
function readQuote(body: Payload): Reference | undefined {
  const { text, media } = readContent(objectAt(body, "quote"));
  if (text === "" && media.length === 0) return undefined;
  return { kind: "reply", text, media: media.slice(0, limits.mediaPerMessage) };
}

/**
 * Removes the bot's mention from the start of a text. WeCom does not mark mentions, so a name with spaces is removed
 * completely only if it is configured.
 */
function removeMention(text: string, name: string | undefined): string {
  const mention = name === undefined ? undefined : `@${name}`;
  if (mention !== undefined && text.trimStart().startsWith(mention))
    return text.trimStart().slice(mention.length).trimStart();
  return text.replace(/^\s*@\S+\s*/u, "");
}
