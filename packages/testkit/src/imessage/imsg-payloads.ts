import type { Raw } from "../raw.ts";
import type { ChatMessage, FakeMessages } from "./database.ts";

/** Emoji of the tapbacks. */
const EMOJI: Readonly<Record<string, string>> = {
  love: "❤️",
  like: "👍",
  dislike: "👎",
  laugh: "😂",
  emphasis: "‼️",
  question: "❓",
};

/** Source: `docs/json.md` of imsg. */
export function chatPayload(chat: {
  readonly id: number;
  readonly guid: string;
  readonly lastAt: number;
}): Raw {
  const [service = "", kind, identifier = ""] = chat.guid.split(";");
  return {
    id: chat.id,
    name: identifier,
    identifier,
    guid: chat.guid,
    service,
    last_message_at: new Date(chat.lastAt).toISOString(),
    is_group: kind === "+",
    participants: [],
  };
}

export function messagePayload(messages: FakeMessages, message: ChatMessage, withAttachments: boolean): Raw {
  const [, kind, identifier = ""] = message.chatGuid.split(";");
  const replied = messages.rows.find(({ guid }) => guid === message.replyTo);
  const { tapback } = message;
  return {
    id: message.rowId,
    chat_id: messages.chats().find(({ guid }) => guid === message.chatGuid)?.id ?? 0,
    guid: message.guid,
    sender: message.sender,
    is_from_me: message.isFromMe,
    text: message.text,
    created_at: new Date(message.at).toISOString(),
    attachments: withAttachments
      ? message.attachments.map(({ guid, name, mimeType, content }) => ({
          filename: `~/Library/Messages/Attachments/${guid}/${name}`,
          transfer_name: name,
          uti: "public.data",
          mime_type: mimeType,
          byte_size: content.byteLength,
          is_sticker: false,
          missing: false,
          path: `/Users/me/Library/Messages/Attachments/${guid}/${name}`,
        }))
      : [],
    reactions: [],
    chat_identifier: identifier,
    chat_guid: message.chatGuid,
    chat_name: kind === "+" ? "Team" : "",
    participants: [],
    is_group: kind === "+",
    ...(message.replyTo === undefined
      ? {}
      : {
          reply_to_guid: message.replyTo,
          ...(replied === undefined ? {} : { reply_to_text: replied.text, reply_to_sender: replied.sender }),
        }),
    ...(tapback === undefined
      ? {}
      : {
          is_reaction: true,
          reaction_type: tapback.kind,
          reaction_emoji: EMOJI[tapback.kind] ?? tapback.kind,
          is_reaction_add: tapback.isAdded,
          reacted_to_guid: tapback.guid,
        }),
  };
}
