import {
  getMediaKind,
  isPayload,
  type MediaRef,
  type MessageBody,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  parseMimeType,
  type Reference,
  textAt,
} from "@signalbox/channel";
import { isFileUrl } from "../media.ts";
import { getDisplayName } from "../people.ts";
import { type OwnIds, readMentions, writeMentions } from "./mentions.ts";

/** Type of a message reference that is a forward rather than a reply. */
const forward = 1;

/** Field for the original of a forwarded message, which is looked up. */
export const FORWARDED_MESSAGE = "forwarded_message";

/** Reads the content of a message. */
export function readBody(message: Payload, own: OwnIds): MessageBody {
  const mentions = readMentions(message, own);
  const snapshot = isForward(message) ? getSnapshot(message) : undefined;
  if (snapshot !== undefined) {
    return { text: "", media: [], mentions, references: [readForward(message, snapshot, own)] };
  }
  const answered = readRepliedTo(message, own);
  return {
    text: normalizeLineEnds(getText(message, own)),
    media: readAttachments(message, message),
    mentions,
    references: answered === undefined ? undefined : [answered],
  };
}

/** Returns the text of a message, and descriptions of its other content. */
export function getText(message: Payload, own: OwnIds): string {
  const said = getWrittenText(message);
  const written = said === "" ? "" : writeMentions(said, readMentions(message, own), own);
  const stickers = objectsAt(message, "sticker_items").map((one) => `[sticker ${textAt(one, "name") ?? ""}]`);
  const poll = objectAt(message, "poll");
  const question = textAt(objectAt(poll, "question"), "text");
  const snapshot = isForward(message) ? getSnapshot(message) : undefined;
  const parts = [
    written,
    ...stickers,
    ...(question === undefined ? [] : [[`[poll] ${question}`, ...listPollAnswers(poll)].join("\n")]),
    ...(snapshot === undefined ? [] : [`[forwarded]\n${getText(snapshot, own)}`]),
  ].filter((part) => part !== "");
  const embeds = objectsAt(message, "embeds").filter((embed) => parts.length === 0 || isCard(embed, message));
  return [...parts, ...embeds.map(readEmbed)].join("\n\n").trim();
}

function isForward(message: Payload): boolean {
  return objectAt(message, "message_reference")["type"] === forward;
}

/** Returns true if a bot or webhook wrote the embed. All other embeds are previews of links. */
function isCard(embed: Payload, message: Payload): boolean {
  const { author, webhook_id: webhookId } = message;
  // A snapshot of a forwarded message has no author.
  const isByPerson = isPayload(author) && author["bot"] !== true && webhookId === undefined;
  return (embed["type"] ?? "rich") === "rich" && !isByPerson;
}

/** Source: "Component Reference". Components nest three levels deep: container, section, text. */
const TEXT_DISPLAY = 10;
const MAX_LEVELS = 3;

/** Returns the text of a message from its content or its components. */
export function getWrittenText(message: Payload): string {
  return textAt(message, "content") ?? collectTexts(message, 1).join("\n\n");
}

function collectTexts(parent: Payload, level: number): readonly string[] {
  return objectsAt(parent, "components").flatMap((component) => {
    if (component["type"] === TEXT_DISPLAY) return textAt(component, "content") ?? [];
    return level < MAX_LEVELS ? collectTexts(component, level + 1) : [];
  });
}

function listPollAnswers(poll: Payload): string[] {
  return objectsAt(poll, "answers").map((one) => `- ${textAt(objectAt(one, "poll_media"), "text") ?? ""}`);
}

/** Returns the text of an embed, which bots and feeds use. */
function readEmbed(embed: Payload): string {
  const fields = objectsAt(embed, "fields").map(
    (field) => `${textAt(field, "name")}: ${textAt(field, "value")}`,
  );
  const lines = [textAt(embed, "title"), textAt(embed, "description"), ...fields];
  return lines.filter((line) => line !== undefined).join("\n");
}

function getSnapshot(message: Payload): Payload | undefined {
  const [snapshot] = objectsAt(message, "message_snapshots");
  return snapshot === undefined ? undefined : objectAt(snapshot, "message");
}

/** Discord does not send the author of a forwarded message; see `withForwardedMessage`. */
function readForward(message: Payload, snapshot: Payload, own: OwnIds): Reference {
  const original = message[FORWARDED_MESSAGE];
  return {
    kind: "forward",
    sender: isPayload(original) ? readEarlierMessage(original, own).sender : undefined,
    messageId: textAt(objectAt(message, "message_reference"), "message_id"),
    timestamp: parseIsoTime(snapshot, "timestamp"),
    text: normalizeLineEnds(getText(snapshot, own)),
    media: readAttachments(message, snapshot),
  };
}

function readRepliedTo(message: Payload, own: OwnIds): Reference | undefined {
  const messageId = textAt(objectAt(message, "message_reference"), "message_id");
  if (messageId === undefined) return undefined;
  const answered = message["referenced_message"];
  return isPayload(answered)
    ? { ...readEarlierMessage(answered, own), messageId }
    : { kind: "reply", messageId };
}

/** Reads the message that another one replies to. If that is a forward, it has the forwarded content. */
export function readEarlierMessage(message: Payload, own: OwnIds): Reference {
  const author = objectAt(message, "author");
  const id = textAt(author, "id");
  const snapshot = isForward(message) ? getSnapshot(message) : undefined;
  return {
    kind: "reply",
    messageId: textAt(message, "id"),
    sender:
      id === undefined
        ? undefined
        : { id, name: getDisplayName(author), isBot: author["bot"] === true, isSelf: id === own.botId },
    timestamp: parseIsoTime(message, "timestamp"),
    text: id === undefined ? undefined : normalizeLineEnds(getText(message, own)),
    media: [message, ...(snapshot === undefined ? [] : [snapshot])].flatMap((said) =>
      readAttachments(message, said),
    ),
  };
}

/** Parses an ISO 8601 timestamp to milliseconds since the epoch. */
export function parseIsoTime(payload: Payload, key: string): number | undefined {
  const time = Date.parse(textAt(payload, key) ?? "");
  return time > 1e12 && time < 1e14 ? time : undefined;
}

/** @param said the message itself or the forwarded one. References always contain the ids of the outer message. */
function readAttachments(message: Payload, said: Payload): readonly MediaRef[] {
  const ids = { channelId: textAt(message, "channel_id") ?? "", messageId: textAt(message, "id") ?? "" };
  const images = objectsAt(said, "embeds")
    .filter((embed) => isCard(embed, said))
    .flatMap((embed): MediaRef[] => {
      const url = textAt(objectAt(embed, "image"), "url");
      // Only images that were uploaded to Discord. Others would be requests to any server.
      if (url === undefined || !isFileUrl(url)) return [];
      return [{ kind: "image", mimeType: "application/octet-stream", ref: { ...ids, url } }];
    });
  const files = objectsAt(said, "attachments").flatMap((attachment): MediaRef[] => {
    const [id, url] = [textAt(attachment, "id"), textAt(attachment, "url")];
    if (id === undefined || url === undefined) return [];
    const mimeType = parseMimeType(textAt(attachment, "content_type"));
    const { size } = attachment;
    const name = textAt(attachment, "filename");
    return [
      {
        kind: getMediaKind(mimeType),
        mimeType,
        name,
        size: typeof size === "number" && size >= 0 ? size : undefined,
        ref: { ...ids, attachmentId: id, url },
      },
    ];
  });
  return [...files, ...images];
}
