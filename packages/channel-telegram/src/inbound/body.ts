import {
  isPayload,
  type MessageBody,
  normalizeLineEnds,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { getDisplayName, idAt, messageIdAt, type Place, readPlace } from "./conversation.ts";
import { readAttachments } from "./media.ts";
import { readRich } from "./rich-text.ts";
import { describeSpecialContent } from "./special-content.ts";
import { type Bot, type ReadText, readText } from "./text.ts";

/** Content of a message, and the command at its start. */
export interface Read {
  readonly body: MessageBody;
  readonly command: ReadText["command"];
}

export function readBody(message: Payload, where: Place, bot: Bot): Read {
  const rich = message["rich_message"];
  const { text, mentions, media, command } = isPayload(rich)
    ? readRich(rich, bot)
    : { ...readText(message, bot), media: readAttachments(message) };
  const answered = objectAt(message, "reply_to_message");
  // A reply to a message in another chat. Telegram identifies that chat only if it is a supergroup or
  // channel.
  const external = objectAt(message, "external_reply");
  const elsewhere = readPlace(external);
  const answeredId = messageIdAt(answered, where) ?? (elsewhere && messageIdAt(external, elsewhere));
  const quoted = quotedText(message, answered, bot);
  const senderId = idAt(objectAt(answered, "from"));
  const origin = message["forward_origin"];
  const body = {
    text: normalizeLineEnds(text || describeSpecialContent(message)),
    media,
    mentions,
    ...(answeredId === undefined
      ? {}
      : {
          replyTo: {
            messageId: answeredId,
            ...(quoted === undefined ? {} : { text: normalizeLineEnds(quoted) }),
            ...(senderId === undefined ? {} : { senderId }),
          },
        }),
    ...(isPayload(origin) ? { forwarded: forwardedFrom(origin) } : {}),
  };
  return { body, command };
}

/** The range that the sender selected as a quote, or else the whole text of the quoted message. */
function quotedText(message: Payload, answered: Payload, bot: Bot): string | undefined {
  const rich = answered["rich_message"];
  return (
    textAt(objectAt(message, "quote"), "text") ??
    textAt(answered, "text") ??
    textAt(answered, "caption") ??
    (isPayload(rich) ? readRich(rich, bot).text : undefined)
  );
}

function forwardedFrom(origin: Payload): { readonly from?: string } {
  const chat = isPayload(origin["chat"]) ? objectAt(origin, "chat") : objectAt(origin, "sender_chat");
  const from =
    (getDisplayName(objectAt(origin, "sender_user")) || undefined) ??
    textAt(origin, "sender_user_name") ??
    textAt(chat, "title");
  return from === undefined ? {} : { from };
}
