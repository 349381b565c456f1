import {
  type MediaRef,
  type MessageBody,
  mediaKindOf,
  mimeTypeOf,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { type OwnIds, readMentions, writeMentions } from "./mentions.ts";

/** A reference that passes a message on, in place of answering it. */
const forward = 1;

/** What a message says. */
export function readBody(message: Payload, own: OwnIds): MessageBody {
  const mentions = readMentions(message, own);
  const reference = objectAt(message, "message_reference");
  const snapshot = reference["type"] === forward ? firstSnapshot(message) : undefined;
  const said = snapshot ?? message;
  const answered = snapshot === undefined ? readAnswered(message, own) : undefined;
  return {
    text: normalizeLineEnds(wordsOf(said, own)),
    media: attachmentsOf(message, said),
    mentions,
    ...(answered === undefined ? {} : { replyTo: answered }),
    ...(snapshot === undefined ? {} : { forwarded: {} }),
  };
}

/** The words of a message; of one that has none, a word about what it is. */
export function wordsOf(message: Payload, own: OwnIds): string {
  const said = saidIn(message);
  if (said !== "") return writeMentions(said, readMentions(message, own), own);
  const [sticker] = objectsAt(message, "sticker_items");
  if (sticker !== undefined) return `[sticker ${textAt(sticker, "name") ?? ""}]`;
  const poll = objectAt(message, "poll");
  const question = textAt(objectAt(poll, "question"), "text");
  if (question !== undefined) return [`[poll] ${question}`, ...pollAnswers(poll)].join("\n");
  return objectsAt(message, "embeds").map(embedText).join("\n\n").trim();
}

/** Source: Discord's page on components, which nest three deep: a container, a section, a text. */
const textDisplay = 10;
const mostLevels = 3;

/** What stands in a message, be it made of text or of components. */
export function saidIn(message: Payload): string {
  return textAt(message, "content") ?? textsAmong(message, 1).join("\n\n");
}

function textsAmong(parent: Payload, level: number): readonly string[] {
  return objectsAt(parent, "components").flatMap((component) => {
    if (component["type"] === textDisplay) return textAt(component, "content") ?? [];
    return level < mostLevels ? textsAmong(component, level + 1) : [];
  });
}

function pollAnswers(poll: Payload): string[] {
  return objectsAt(poll, "answers").map((one) => `- ${textAt(objectAt(one, "poll_media"), "text") ?? ""}`);
}

/** Bots and feeds write in embeds. */
function embedText(embed: Payload): string {
  const fields = objectsAt(embed, "fields").map(
    (field) => `${textAt(field, "name")}: ${textAt(field, "value")}`,
  );
  const lines = [textAt(embed, "title"), textAt(embed, "description"), ...fields];
  return lines.filter((line) => line !== undefined).join("\n");
}

function firstSnapshot(message: Payload): Payload | undefined {
  const [snapshot] = objectsAt(message, "message_snapshots");
  return snapshot === undefined ? undefined : objectAt(snapshot, "message");
}

function readAnswered(message: Payload, own: OwnIds): MessageBody["replyTo"] {
  const messageId = textAt(objectAt(message, "message_reference"), "message_id");
  if (messageId === undefined) return undefined;
  const answered = objectAt(message, "referenced_message");
  const senderId = textAt(objectAt(answered, "author"), "id");
  const text = senderId === undefined ? "" : normalizeLineEnds(wordsOf(answered, own));
  return {
    messageId,
    ...(text === "" ? {} : { text }),
    ...(senderId === undefined ? {} : { senderId }),
  };
}

/** @param said the message, or the one that it passes on: the files are told apart by the ids of the former */
function attachmentsOf(message: Payload, said: Payload): readonly MediaRef[] {
  return objectsAt(said, "attachments").flatMap((attachment): MediaRef[] => {
    const [id, url] = [textAt(attachment, "id"), textAt(attachment, "url")];
    if (id === undefined || url === undefined) return [];
    const mimeType = mimeTypeOf(textAt(attachment, "content_type"));
    const { size } = attachment;
    const name = textAt(attachment, "filename");
    return [
      {
        kind: mediaKindOf(mimeType),
        mimeType,
        ...(name === undefined ? {} : { name }),
        ...(typeof size === "number" && size >= 0 ? { size } : {}),
        ref: {
          channelId: textAt(message, "channel_id") ?? "",
          messageId: textAt(message, "id") ?? "",
          attachmentId: id,
          url,
        },
      },
    ];
  });
}
