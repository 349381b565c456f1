import {
  type Conversation,
  type EventFacts,
  eventBase,
  type Mention,
  type MessageEvent,
  objectsAt,
  type Payload,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { addressCodec, formatMessageId } from "../address.ts";
import { type Content, contentOf, readContent } from "./content.ts";
import { readReferences } from "./quoted.ts";

/**
 * Reads a message to the bot. Returns `undefined` if the message has no ids. Source: DingTalk's page "Bot receives
 * messages".
 */
export function readMessage(message: Payload, facts: EventFacts): MessageEvent | undefined {
  const msgId = textAt(message, "msgId");
  const conversationId = textAt(message, "conversationId");
  // Only members of the organization have a staff id, which is the id for messages to them.
  const senderId = textAt(message, "senderStaffId") ?? textAt(message, "senderId");
  if (msgId === undefined || conversationId === undefined || senderId === undefined) return undefined;
  const chatbotUserId = textAt(message, "chatbotUserId");
  const isSelf = chatbotUserId !== undefined && textAt(message, "senderId") === chatbotUserId;
  const isDirect = message["conversationType"] === "1";
  const name = textAt(message, "senderNick");
  const base = eventBase("dingtalk", facts, {
    eventId: `message ${conversationId} ${msgId}`,
    conversation: readConversation(message, conversationId, isDirect),
    address: addressCodec.encode(isDirect ? { userId: senderId } : { conversationId }),
    sender: { id: isSelf ? facts.botId : senderId, name, isBot: isSelf, isSelf },
    timestamp: timeAt(message, "createAt"),
    payload: message,
  });
  const content = readContent(textAt(message, "msgtype") ?? "", contentOf(message));
  const references = readReferences(message, content, { conversationId, botId: facts.botId, chatbotUserId });
  const mentions = readMentions(message, facts.botId, chatbotUserId);
  const isMentioned = !isDirect && mentions.some((one) => one.isSelf);
  const isReply =
    !isDirect && references.some(({ kind, sender }) => kind === "reply" && sender?.isSelf === true);
  return {
    ...base,
    type: "message",
    messageId: formatMessageId({ conversationId, msgId }),
    addressed: isMentioned ? "mention" : isReply ? "reply" : base.addressed,
    ...getOwnContent(message, content, isMentioned),
    mentions,
    ...(references.length === 0 ? {} : { references }),
  };
}

function readConversation(message: Payload, id: string, isDirect: boolean): Conversation {
  return {
    id,
    kind: isDirect ? "direct" : "group",
    teamId: textAt(message, "chatbotCorpId"),
    subject: textAt(message, "conversationTitle"),
  };
}

/** The content of forwarded messages belongs to a reference. */
function getOwnContent(message: Payload, { text, media }: Content, isMentioned: boolean): Content {
  if (message["msgtype"] === "chatRecord") return { text: "", media: [] };
  // DingTalk removes the mention of the bot and keeps the space after it.
  return { text: isMentioned ? text.trimStart() : text, media };
}

function readMentions(
  message: Payload,
  botId: string,
  chatbotUserId: string | undefined,
): readonly Mention[] {
  const mentions = objectsAt(message, "atUsers").flatMap((user): Mention[] => {
    const dingtalkId = textAt(user, "dingtalkId");
    const isSelf = dingtalkId !== undefined && dingtalkId === chatbotUserId;
    const id = isSelf ? botId : (textAt(user, "staffId") ?? dingtalkId);
    return id === undefined ? [] : [{ id, isSelf }];
  });
  // True if the bot is in the list of mentioned members.
  const isListed = message["isInAtList"] === true && !mentions.some((one) => one.isSelf);
  return isListed ? [{ id: botId, isSelf: true }, ...mentions] : mentions;
}
