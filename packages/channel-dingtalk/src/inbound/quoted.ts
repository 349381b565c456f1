import { objectAt, type Payload, type Reference, textAt, timeAt } from "@signalbox/channel";
import { formatMessageId } from "../address.ts";
import { type Content, contentOf, readContent } from "./content.ts";

interface QuoteFacts {
  readonly conversationId: string;
  /** The bot's id, and the id by which DingTalk names it as a sender. */
  readonly botId: string;
  readonly chatbotUserId: string | undefined;
}

/** Returns the message that a message quotes, or the forwarded messages that it consists of. */
export function readReferences(message: Payload, content: Content, facts: QuoteFacts): readonly Reference[] {
  // A summary of messages of other people, which the sender forwards together.
  if (message["msgtype"] === "chatRecord")
    return content.text === "" ? [] : [{ kind: "forward", text: content.text }];
  const own = contentOf(message);
  if (own["isReplyMsg"] !== true) return [];
  const quoted = objectAt(own, "repliedMsg");
  const senderId = textAt(quoted, "senderId");
  const isSelf = senderId !== undefined && senderId === facts.chatbotUserId;
  const { text, media } = readQuoted(quoted);
  const messageId = readMessageId(message, quoted, { ...facts, isSelf });
  if (messageId === undefined && text === "" && media.length === 0) return [];
  const sender =
    senderId === undefined ? undefined : { id: isSelf ? facts.botId : senderId, isBot: isSelf, isSelf };
  const timestamp = timeAt(quoted, "createdAt");
  return [{ kind: "reply", messageId, sender, timestamp, text: text === "" ? undefined : text, media }];
}

function readQuoted(quoted: Payload): Content {
  const content = objectAt(quoted, "content");
  const type = textAt(quoted, "msgType") ?? (Array.isArray(content["richText"]) ? "richText" : "text");
  if (Object.keys(content).length === 0) return { text: "", media: [] };
  return readContent(type, content);
}

/** Returns the id in the receipt for a message of the bot, and otherwise the id of the message's own event. */
function readMessageId(
  message: Payload,
  quoted: Payload,
  { isSelf, conversationId }: QuoteFacts & { readonly isSelf: boolean },
): string | undefined {
  const key = textAt(message, "originalProcessQueryKey");
  if (isSelf && key !== undefined) return key;
  const msgId = textAt(quoted, "msgId") ?? textAt(message, "originalMsgId");
  return msgId === undefined ? undefined : formatMessageId({ conversationId, msgId });
}
