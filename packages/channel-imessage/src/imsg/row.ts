import {
  getMediaKind,
  isPayload,
  type MediaRef,
  objectsAt,
  type Payload,
  parseMimeType,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { type IMessageAddress, isGroupId, isPersonId, parseChatGuid } from "../address.ts";
import { toEmoji } from "../outbound/tapbacks.ts";
import { type Row, toMessageGuid } from "../row.ts";

/** Reads a message of imsg. Returns `undefined` if it is malformed. Source: `docs/json.md` of imsg. */
export function readImsgRow(message: Payload): Row | undefined {
  const { id, cursor } = message;
  const guid = textAt(message, "guid");
  const position = typeof cursor === "number" ? cursor : id;
  if (guid === undefined || typeof position !== "number" || !Number.isSafeInteger(position)) return undefined;
  const chatGuid = textAt(message, "chat_guid") ?? "";
  const at = readTime(message);
  if (at === undefined) return undefined;
  const replied = textAt(message, "reply_to_guid") ?? textAt(message, "thread_originator_guid");
  const isTapback = message["is_reaction"] === true;
  const tapped = textAt(message, "reacted_to_guid");
  return {
    position,
    guid,
    chat: readChat(message, chatGuid),
    chatGuid,
    chatName: textAt(message, "chat_name"),
    sender: textAt(message, "sender") ?? "",
    senderName: textAt(message, "sender_name"),
    isFromMe: message["is_from_me"] === true,
    text: textAt(message, "text") ?? describePoll(message),
    at,
    media: objectsAt(message, "attachments").map(readAttachment),
    reply: replied === undefined || isTapback ? undefined : readReply(message, toMessageGuid(replied)),
    tapback: isTapback && tapped !== undefined ? readTapback(message, toMessageGuid(tapped)) : undefined,
  };
}

/** Reads a time in ISO 8601. */
function readTime(message: Payload): number | undefined {
  const text = textAt(message, "created_at");
  return text === undefined ? undefined : timeAt({ at: Date.parse(text) }, "at");
}

function readChat(message: Payload, guid: string): IMessageAddress | undefined {
  const chat = parseChatGuid(guid);
  if (chat !== undefined) return chat;
  const identifier = textAt(message, "chat_identifier") ?? "";
  if (message["is_group"] === true) return isGroupId(identifier) ? { group: identifier } : undefined;
  return isPersonId(identifier) ? { person: identifier } : undefined;
}

function readReply(message: Payload, guid: string): NonNullable<Row["reply"]> {
  const sender = message["reply_to_sender"];
  return {
    guid,
    text: textAt(message, "reply_to_text"),
    sender: typeof sender === "string" ? sender : undefined,
  };
}

function readTapback(message: Payload, guid: string): NonNullable<Row["tapback"]> {
  const emoji = textAt(message, "reaction_emoji") ?? toEmoji(textAt(message, "reaction_type") ?? "custom");
  return { guid, emoji, added: message["is_reaction_add"] !== false };
}

/** `byte_size` and `path` were called `total_bytes` and `original_path` before 0.14. */
function readAttachment(attachment: Payload): MediaRef {
  const mimeType = parseMimeType(textAt(attachment, "mime_type"));
  const path = textAt(attachment, "path") ?? textAt(attachment, "original_path");
  const size = attachment["byte_size"] ?? attachment["total_bytes"];
  return {
    kind: attachment["is_sticker"] === true ? "sticker" : getMediaKind(mimeType),
    mimeType,
    name: textAt(attachment, "transfer_name"),
    size: typeof size === "number" && size > 0 ? size : undefined,
    ref: path === undefined || attachment["missing"] === true ? null : { path, mimeType },
  };
}

function describePoll({ poll }: Payload): string {
  if (!isPayload(poll) || poll["kind"] !== "created") return "";
  const options = objectsAt(poll, "options").map(
    (option, index) => `${index + 1}. ${textAt(option, "text") ?? ""}`,
  );
  return [`Poll: ${textAt(poll, "question") ?? ""}`, ...options].join("\n");
}
