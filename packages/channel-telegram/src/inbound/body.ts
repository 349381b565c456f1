import {
  isPayload,
  type MessageBody,
  normalizeLineEnds,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { idAt, messageIdAt, nameOf, type Where, whereOf } from "./conversation.ts";
import { mediaOf } from "./media.ts";
import { noteOf } from "./notes.ts";
import { readRich } from "./rich-text.ts";
import { type Bot, type ReadText, readText } from "./text.ts";

/** What a message says and brings along, and the command that it begins with. */
export interface Read {
  readonly body: MessageBody;
  readonly command: ReadText["command"];
}

export function readBody(message: Payload, where: Where, bot: Bot): Read {
  const rich = message["rich_message"];
  const { text, mentions, media, command } = isPayload(rich)
    ? readRich(rich, bot)
    : { ...readText(message, bot), media: mediaOf(message) };
  const answered = objectAt(message, "reply_to_message");
  // A message of another chat: Telegram says which one only of supergroups and channels.
  const external = objectAt(message, "external_reply");
  const elsewhere = whereOf(external);
  const answeredId = messageIdAt(answered, where) ?? (elsewhere && messageIdAt(external, elsewhere));
  const quoted = quotedText(message, answered, bot);
  const senderId = idAt(objectAt(answered, "from"));
  const origin = message["forward_origin"];
  const body = {
    text: normalizeLineEnds(text || noteOf(message)),
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

/** The stretch that the person chose to quote, else the whole message that is answered. */
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
    (nameOf(objectAt(origin, "sender_user")) || undefined) ??
    textAt(origin, "sender_user_name") ??
    textAt(chat, "title");
  return from === undefined ? {} : { from };
}
