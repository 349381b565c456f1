import { objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import { listMessages } from "../history.ts";
import type { Place } from "../places.ts";
import type { EventEnvelope } from "./envelope.ts";

/**
 * What people wrote in a chat since `since`, oldest first, as the events that would have brought it: the newest page at
 * most. They carry no event id: the id of the message stands for it, and tells them from what is delivered late.
 */
export async function missedMessages(
  api: FeishuApi,
  place: Place,
  span: { readonly since: number; readonly appId: string; readonly signal: AbortSignal },
): Promise<readonly EventEnvelope[]> {
  const items = await listMessages(api, place.chatId, { start: span.since }, span.signal);
  return items
    .filter((item) => isMissed(item, span.appId))
    .map((item) => asEvent(item, place))
    .toReversed();
}

function isMissed(item: Payload, appId: string): boolean {
  return (
    item["deleted"] !== true &&
    item["msg_type"] !== "system" &&
    textAt(objectAt(item, "sender"), "id") !== appId
  );
}

function asEvent(item: Payload, { chatId, kind }: Place): EventEnvelope {
  const sender = objectAt(item, "sender");
  const { message_id, root_id, parent_id, thread_id, create_time } = item;
  const event = {
    sender: { sender_id: { open_id: sender["id"] }, sender_type: sender["sender_type"] },
    message: {
      ...{ message_id, root_id, parent_id, thread_id, create_time },
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
