import { objectAt, objectsAt, type Payload, textAt, timeAt } from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import { listMessages } from "../history.ts";
import type { Place } from "../places.ts";
import type { EventEnvelope } from "./envelope.ts";

/** Our own event type for edits, because Feishu sends no event for them. */
export const editedType = "message.edited";
/** Maximum age of messages that are checked for edits since a time, in milliseconds. */
const editedWithinMs = 3_600_000;
/** Maximum number of pages per chat: its latest five hundred messages. */
const mostPages = 10;

/**
 * Returns the messages that people wrote in a chat since a time, and their edits, oldest first, in the form of events.
 * They have no event id. Instead, the message id deduplicates events that arrive later.
 */
export async function missedMessages(
  api: FeishuApi,
  place: Place,
  span: { readonly since: number; readonly appId: string; readonly signal: AbortSignal },
): Promise<readonly EventEnvelope[]> {
  const stretch = { start: span.since - editedWithinMs, pages: mostPages };
  const items = await listMessages(api, place.chatId, stretch, span.signal);
  return items
    .filter((item) => isMissed(item, span.appId))
    .toReversed()
    .flatMap((item) => {
      const isNew = (timeAt(item, "create_time") ?? 0) >= span.since;
      // A new message may already have been received in an earlier version.
      const edit = asEdit(item, place, isNew ? 0 : span.since);
      return [...(isNew ? [asEvent(item, place)] : []), ...(edit === undefined ? [] : [edit])];
    });
}

function isMissed(item: Payload, appId: string): boolean {
  return (
    item["deleted"] !== true &&
    item["msg_type"] !== "system" &&
    textAt(objectAt(item, "sender"), "id") !== appId
  );
}

/** Returns the event for an edit, or `undefined` if the message was not changed after `since`. */
export function asEdit(item: Payload, place: Place, since: number): EventEnvelope | undefined {
  const changedAt = timeAt(item, "update_time");
  if (item["updated"] !== true || changedAt === undefined || changedAt <= since) return undefined;
  const eventId = `${textAt(item, "message_id")}:edited:${changedAt}`;
  return { ...asEvent(item, place), type: editedType, eventId, at: changedAt };
}

function asEvent(item: Payload, { chatId, kind }: Place): EventEnvelope {
  const sender = objectAt(item, "sender");
  const { message_id, root_id, parent_id, thread_id, create_time, update_time } = item;
  const event = {
    sender: { sender_id: { open_id: sender["id"] }, sender_type: sender["sender_type"] },
    message: {
      message_id,
      root_id,
      parent_id,
      thread_id,
      create_time,
      update_time,
      chat_id: chatId,
      chat_type: kind === "direct" ? "p2p" : "group",
      message_type: item["msg_type"],
      content: objectAt(item, "body")["content"],
      mentions: objectsAt(item, "mentions"),
    },
  };
  return {
    kind: "event",
    type: "im.message.receive_v1",
    token: undefined,
    eventId: undefined,
    at: undefined,
    tenant: textAt(sender, "tenant_key"),
    event,
    raw: item,
  };
}
