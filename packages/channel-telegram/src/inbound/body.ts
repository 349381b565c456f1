import {
  isPayload,
  type MessageBody,
  normalizeLineEnds,
  objectAt,
  type Payload,
  type Reference,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { getDisplayName, idAt, messageIdAt, type Place, readPlace, readSender } from "./conversation.ts";
import { readAttachments } from "./media.ts";
import { readRich } from "./rich-text.ts";
import { describeSpecialContent } from "./special-content.ts";
import { type Bot, type ReadText, readText } from "./text.ts";

/** Content of a message, and the command at its start. */
export interface Read {
  readonly body: MessageBody;
  readonly command: ReadText["command"];
}

/** Reads the content of a message. Forwarded content becomes a reference. */
export function readBody(message: Payload, place: Place, bot: Bot): Read {
  const { text, media, mentions, command } = readContent(message, bot);
  const reply = readReply(message, place, bot);
  const forward = readForward(message);
  const references = reply === undefined ? [] : [reply];
  if (forward === undefined) return { body: withReferences({ text, media, mentions }, references), command };
  const forwarded = { ...forward, text, media };
  return {
    body: withReferences({ text: "", media: [], mentions: [] }, [...references, forwarded]),
    command: undefined,
  };
}

function withReferences(body: MessageBody, references: readonly Reference[]): MessageBody {
  const known = references.filter(
    ({ messageId, text = "", media = [] }) => messageId !== undefined || text !== "" || media.length > 0,
  );
  return known.length === 0 ? body : { ...body, references: known };
}

function readContent(
  message: Payload,
  bot: Bot,
): Required<Omit<MessageBody, "references" | "forwarded">> & Pick<Read, "command"> {
  const rich = message["rich_message"];
  const { text, mentions, media, command } = isPayload(rich)
    ? readRich(rich, bot)
    : { ...readText(message, bot), media: readAttachments(message) };
  return { text: normalizeLineEnds(text || describeSpecialContent(message)), mentions, media, command };
}

/**
 * Reads the message that this one replies to, in this chat or another. The text is the quote that the sender selected,
 * otherwise the entire message.
 */
function readReply(message: Payload, place: Place, bot: Bot): Reference | undefined {
  const quote = textAt(objectAt(message, "quote"), "text");
  const answered = objectAt(message, "reply_to_message");
  const messageId = messageIdAt(answered, place);
  // Every message of a topic is technically a reply to the message that created the topic.
  if (messageId !== undefined && !isPayload(answered["forum_topic_created"])) {
    const { text, media } = readContent(answered, bot);
    const author = readSender(answered, bot);
    return {
      kind: "reply",
      messageId,
      sender: author,
      timestamp: timeAt(answered, "date"),
      text: quote === undefined ? text : normalizeLineEnds(quote),
      media,
    };
  }
  const external = message["external_reply"];
  if (!isPayload(external)) return undefined;
  // Telegram identifies the other chat only if it is a supergroup or channel.
  const elsewhere = readPlace(external);
  return {
    kind: "reply",
    messageId: elsewhere && messageIdAt(external, elsewhere),
    ...readOrigin(objectAt(external, "origin")),
    text: quote === undefined ? describeSpecialContent(external) || undefined : normalizeLineEnds(quote),
    media: readAttachments(external),
  };
}

/** Reads the origin of a forward. Posts that Telegram copies to a channel's own discussion group are not forwards. */
function readForward(message: Payload): Reference | undefined {
  const origin = message["forward_origin"];
  if (!isPayload(origin) || message["is_automatic_forward"] === true) return undefined;
  return { kind: "forward", ...readOrigin(origin) };
}

/** Source: the Bot API's `MessageOrigin`. If a user hides their account, only the name is known. */
function readOrigin(origin: Payload): Pick<Reference, "sender" | "timestamp" | "messageId"> {
  const user = objectAt(origin, "sender_user");
  const chat = isPayload(origin["chat"]) ? objectAt(origin, "chat") : objectAt(origin, "sender_chat");
  const id = idAt(user) ?? idAt(chat);
  const name = getDisplayName(user) || (textAt(origin, "sender_user_name") ?? textAt(chat, "title"));
  return {
    sender: id === undefined && name === undefined ? undefined : { id, name },
    timestamp: timeAt(origin, "date"),
  };
}
