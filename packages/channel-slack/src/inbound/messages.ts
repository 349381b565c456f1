import { type Addressed, isPayload, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";
import { messageId } from "../address.ts";
import { type Content, readContent } from "./content.ts";
import { common, type Facts, type Read, senderOf } from "./event-base.ts";

/** Subtypes under which somebody says something. */
const spoken: readonly unknown[] = [undefined, "bot_message", "file_share", "me_message", "thread_broadcast"];

/** A message, its change or its end. The bot's own concern nobody. */
export function readMessageEvent(event: Payload, body: Payload, facts: Facts): Read {
  const channel = textAt(event, "channel");
  if (channel === undefined) return "malformed";
  if (event["subtype"] === "message_changed") return readChange(event, channel, body, facts);
  if (event["subtype"] === "message_deleted") return readDeletion(event, channel, body, facts);
  return spoken.includes(event["subtype"]) ? readMessage(event, channel, body, facts) : "ignored";
}

function readMessage(message: Payload, channel: string, body: Payload, facts: Facts): Read {
  const ts = textAt(message, "ts");
  const sender = senderOf(message, facts);
  if (ts === undefined || sender.id === "") return "malformed";
  if (sender.isSelf) return "ignored";
  const content = contentOf(message, facts);
  const addressed = addressedBy(message, content, facts);
  const root = rootOf(message);
  const isOpening = root === undefined && addressed === "mention" && facts.replyInThread;
  const thread = isOpening ? ts : root;
  // One gesture may come under two timestamps, and a mention as two events.
  const key = messageKey(message, channel, ts);
  const base = common({ channel, thread, body, sender, key, at: message }, facts);
  return {
    ...base,
    ...content,
    conversation: { ...base.conversation, ...(isOpening ? { beginsThread: true } : {}) },
    type: "message",
    messageId: messageId({ channel, ts }),
    addressed,
    ...(root === undefined ? {} : { replyTo: { messageId: messageId({ channel, ts: root }) } }),
  };
}

function messageKey(message: Payload, channel: string, ts: string): string {
  return `message:${textAt(message, "client_msg_id") ?? messageId({ channel, ts })}`;
}

/** The message that began the thread, where this one is not that message itself. */
function rootOf(message: Payload): string | undefined {
  const root = textAt(message, "thread_ts");
  return root === textAt(message, "ts") ? undefined : root;
}

function contentOf(message: Payload, { names, self }: Facts): Content {
  return readContent(message, (id) => names.get(id) ?? (id === self.id ? self.name : undefined), self.id);
}

function addressedBy(message: Payload, { mentions }: Content, facts: Facts): Addressed {
  if (facts.kind === "direct") return "dm";
  if (mentions.some(({ isSelf }) => isSelf)) return "mention";
  const isReply = rootOf(message) !== undefined;
  return isReply && (facts.hasJoined || textAt(message, "parent_user_id") === facts.self.id)
    ? "reply"
    : "none";
}

/** What people changed; Slack also tells of previews that it added to links, and of what streams. */
function readChange(event: Payload, channel: string, body: Payload, facts: Facts): Read {
  const { message, previous_message: before } = event;
  if (!isPayload(message) || !isPayload(before)) return "malformed";
  const ts = textAt(message, "ts");
  const sender = senderOf(message, facts);
  if (ts === undefined) return "malformed";
  // What answers hang on stays when it is deleted, as a stone without words.
  if (message["subtype"] === "tombstone") return deletion(ts, event, channel, body, facts);
  if (
    sender.isSelf ||
    sender.id === "" ||
    (wordsOf(message) === wordsOf(before) && filesOf(message) === filesOf(before))
  )
    return "ignored";
  const content = contentOf(message, facts);
  const changedAt = textAt(objectAt(message, "edited"), "ts") ?? textAt(event, "event_ts") ?? "";
  const key = `edited:${messageId({ channel, ts })}:${changedAt}`;
  return {
    ...common({ channel, thread: rootOf(message), body, sender, key, at: event }, facts),
    ...content,
    type: "edited",
    messageId: messageId({ channel, ts }),
    addressed: addressedBy(message, content, facts),
  };
}

function wordsOf(message: Payload): string {
  return textAt(message, "text") ?? "";
}

function filesOf(message: Payload): string {
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
  const sender = senderOf(before, facts);
  if (sender.isSelf) return "ignored";
  const key = `deleted:${messageId({ channel, ts })}`;
  return {
    ...common({ channel, thread: rootOf(before), body, sender, key, at: event }, facts),
    type: "deleted",
    messageId: messageId({ channel, ts }),
  };
}
