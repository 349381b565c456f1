import {
  getMediaKind,
  type MediaRef,
  objectAt,
  objectsAt,
  type Payload,
  parseMimeType,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { type IMessageAddress, isPersonId, parseChatGuid } from "../address.ts";
import { toEmoji } from "../outbound/tapbacks.ts";
import { type Row, toMessageGuid } from "../row.ts";

/**
 * Types of tapbacks as numbers, from 2000. A removed one has 1000 more. Source: `associated_message_type` in chat.db.
 */
const TAPBACKS = ["love", "like", "dislike", "laugh", "emphasis", "question"];

/**
 * Reads a message of BlueBubbles. Returns `undefined` if it is malformed. Source: `MessageSerializer`,
 * `AttachmentSerializer` and `ChatSerializer` of the server.
 */
export function readBlueBubblesRow(message: Payload): Row | undefined {
  const { originalROWID: position, itemType } = message;
  const guid = textAt(message, "guid");
  const at = timeAt(message, "dateCreated");
  if (guid === undefined || at === undefined || typeof position !== "number") return undefined;
  if (!Number.isSafeInteger(position)) return undefined;
  const [chat = {}] = objectsAt(message, "chats");
  const chatGuid = textAt(chat, "guid") ?? "";
  const sender = textAt(objectAt(message, "handle"), "address") ?? "";
  const tapback = readTapback(message);
  const replied = textAt(message, "threadOriginatorGuid");
  // Other item types are changes of a group.
  const isMessage = itemType === undefined || itemType === null || itemType === 0;
  return {
    position,
    guid,
    chat: isMessage ? readChat(chatGuid, sender) : undefined,
    chatGuid,
    chatName: textAt(chat, "displayName"),
    sender,
    isFromMe: message["isFromMe"] === true,
    text: [textAt(message, "subject"), textAt(message, "text")]
      .filter((text) => text !== undefined)
      .join("\n"),
    at,
    media: objectsAt(message, "attachments").map(readAttachment),
    reply: replied === undefined || tapback !== undefined ? undefined : { guid: toMessageGuid(replied) },
    tapback,
  };
}

function readChat(guid: string, sender: string): IMessageAddress | undefined {
  const chat = parseChatGuid(guid);
  return chat ?? (guid === "" && isPersonId(sender) ? { person: sender } : undefined);
}

function readTapback(message: Payload): Row["tapback"] {
  const target = textAt(message, "associatedMessageGuid");
  const type = message["associatedMessageType"];
  if (target === undefined || (typeof type !== "string" && typeof type !== "number")) return undefined;
  const guid = toMessageGuid(target);
  if (typeof type === "string" && !/^\d+$/.test(type))
    return { guid, emoji: toEmoji(type.replace(/^-/, "")), added: !type.startsWith("-") };
  const number = Number(type);
  const kind = TAPBACKS[number % 1_000];
  if (kind === undefined || number < 2_000 || number >= 4_000) return undefined;
  return { guid, emoji: toEmoji(kind), added: number < 3_000 };
}

function readAttachment(attachment: Payload): MediaRef {
  const mimeType = parseMimeType(textAt(attachment, "mimeType"));
  const guid = textAt(attachment, "guid");
  const { totalBytes } = attachment;
  return {
    kind: attachment["isSticker"] === true ? "sticker" : getMediaKind(mimeType),
    mimeType,
    name: textAt(attachment, "transferName"),
    size: typeof totalBytes === "number" && totalBytes > 0 ? totalBytes : undefined,
    ref: guid === undefined ? null : { attachment: guid },
  };
}
