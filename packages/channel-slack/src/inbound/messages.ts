import {
  type Addressed,
  isPayload,
  objectAt,
  objectsAt,
  type Payload,
  type Reference,
  type Sender,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { addressCodec, messageId } from "../address.ts";
import { type Content, readContent } from "./content.ts";
import { createBase, type Facts, type Read, readSender } from "./event-base.ts";

/** Subtypes of messages with content. */
const contentSubtypes: readonly unknown[] = [
  undefined,
  "bot_message",
  "file_share",
  "me_message",
  "thread_broadcast",
];

/** Reads a new, edited or deleted message. Ignores the bot's own messages. */
export function readMessageEvent(event: Payload, body: Payload, facts: Facts): Read {
  const channel = textAt(event, "channel");
  if (channel === undefined) return "malformed";
  if (event["subtype"] === "message_changed") return readChange(event, channel, body, facts);
  if (event["subtype"] === "message_deleted") return readDeletion(event, channel, body, facts);
  return contentSubtypes.includes(event["subtype"]) ? readMessage(event, channel, body, facts) : "ignored";
}

function readMessage(message: Payload, channel: string, body: Payload, facts: Facts): Read {
  const ts = textAt(message, "ts");
  const sender = readSender(message, facts);
  if (ts === undefined || sender.id === "") return "malformed";
  if (sender.isSelf) return "ignored";
  // Slack may deliver one message under two timestamps, and a mention as two events.
  const key = getMessageKey(message, channel, ts);
  return { ...readVersion({ message, channel, ts, body, sender, key, at: message }, facts), type: "message" };
}

interface Version {
  readonly message: Payload;
  readonly channel: string;
  readonly ts: string;
  readonly body: Payload;
  readonly sender: Sender;
  readonly key: string;
  readonly at: Payload;
}

/** Reads the fields that a message and its edited version share. */
function readVersion({ message, channel, ts, body, sender, key, at }: Version, facts: Facts) {
  const { references, ...content } = readMessageContent(message, facts);
  const addressed = getAddressed(message, content, facts);
  const root = getThreadTs(message);
  const isOpening = root === undefined && addressed === "mention" && facts.replyInThread;
  const base = createBase({ channel, thread: isOpening ? ts : root, body, sender, key, at }, facts);
  return {
    ...base,
    ...content,
    conversation: isOpening
      ? { ...base.conversation, beginsThread: true, outerAddress: addressCodec.encode({ channel }) }
      : base.conversation,
    messageId: messageId({ channel, ts }),
    addressed,
    references: [...readThreadStart(message, channel, facts), ...references],
  };
}

/** Returns the first message of the thread, if this is a later one. */
function readThreadStart(message: Payload, channel: string, { threadStart }: Facts): readonly Reference[] {
  const root = getThreadTs(message);
  if (root === undefined) return [];
  return [threadStart ?? { kind: "thread", messageId: messageId({ channel, ts: root }) }];
}

function getMessageKey(message: Payload, channel: string, ts: string): string {
  return `message:${textAt(message, "client_msg_id") ?? messageId({ channel, ts })}`;
}

/** Returns the timestamp of the thread's first message, unless this is that message. */
function getThreadTs(message: Payload): string | undefined {
  const root = textAt(message, "thread_ts");
  return root === textAt(message, "ts") ? undefined : root;
}

function readMessageContent(message: Payload, { names, self }: Facts): Content {
  return readContent(message, (id) => names.get(id) ?? (id === self.id ? self.name : undefined), self.id);
}

function getAddressed(message: Payload, { mentions }: Pick<Content, "mentions">, facts: Facts): Addressed {
  if (facts.kind === "direct") return "dm";
  if (mentions.some(({ isSelf }) => isSelf)) return "mention";
  const isReply = getThreadTs(message) !== undefined;
  return isReply && (facts.hasJoined || textAt(message, "parent_user_id") === facts.self.id)
    ? "reply"
    : "none";
}

/** Reads a person's edit. Slack sends the same event for link previews and streams. */
function readChange(event: Payload, channel: string, body: Payload, facts: Facts): Read {
  const { message, previous_message: before } = event;
  if (!isPayload(message)) return "malformed";
  const ts = textAt(message, "ts");
  const sender = readSender(message, facts);
  if (ts === undefined) return "malformed";
  // A deleted message with replies remains as a tombstone.
  if (message["subtype"] === "tombstone") return deletion(ts, event, channel, body, facts);
  // Slack may omit the previous version.
  const isSame = isPayload(before)
    ? getWords(message) === getWords(before) && getFiles(message) === getFiles(before)
    : !isPayload(message["edited"]);
  if (sender.isSelf || sender.id === "" || isSame) return "ignored";
  const changedAt = textAt(objectAt(message, "edited"), "ts") ?? textAt(event, "event_ts") ?? "";
  const key = `edited:${messageId({ channel, ts })}:${changedAt}`;
  return {
    ...readVersion({ message, channel, ts, body, sender, key, at: event }, facts),
    type: "edited",
    sentAt: timeAt(message, "ts"),
  };
}

function getWords(message: Payload): string {
  return textAt(message, "text") ?? "";
}

function getFiles(message: Payload): string {
  return objectsAt(message, "files")
    .map(({ id }) => String(id))
    .join();
}

function readDeletion(event: Payload, channel: string, body: Payload, facts: Facts): Read {
  const ts = textAt(event, "deleted_ts");
  return ts === undefined ? "malformed" : deletion(ts, event, channel, body, facts);
}

function deletion(ts: string, event: Payload, channel: string, body: Payload, facts: Facts): Read {
  const before = objectAt(event, "previous_message");
  const sender = readSender(before, facts);
  if (sender.isSelf) return "ignored";
  const key = `deleted:${messageId({ channel, ts })}`;
  return {
    ...createBase({ channel, thread: getThreadTs(before), body, sender, key, at: event }, facts),
    type: "deleted",
    messageId: messageId({ channel, ts }),
  };
}
