import type { FeishuApi } from "./api.ts";
import type { EventEnvelope } from "./events.ts";
import type { Place } from "./places.ts";
import { isRaw, objectAt, objectsAt, type Raw, textAt } from "./raw.ts";

/** How many messages of one chat are looked at: the newest. */
const pageSize = 50;

/**
 * The messages that were written in the given chats since `since`, oldest first, as the events that would have brought
 * them. They carry no event id: the id of the message stands for it, and tells them from what is delivered late.
 */
export async function missedMessages(
  api: FeishuApi,
  chats: readonly Place[],
  span: { readonly since: number; readonly appId: string; readonly signal: AbortSignal },
): Promise<readonly EventEnvelope[]> {
  const found: EventEnvelope[] = [];
  for (const chat of chats) {
    const answer = await api.call(
      { what: "reading what was missed", write: false, signal: span.signal },
      (client) =>
        client.im.v1.message.list({
          params: {
            container_id_type: "chat",
            container_id: chat.chatId,
            sort_type: "ByCreateTimeDesc",
            page_size: pageSize,
            start_time: String(Math.floor(span.since / 1000)),
          },
        }),
    );
    const items = (answer.data?.items ?? []).filter(isRaw).reverse();
    found.push(...items.filter((item) => isMissed(item, span.appId)).map((item) => asEvent(item, chat)));
  }
  return found;
}

function isMissed(item: Raw, appId: string): boolean {
  return (
    item["deleted"] !== true &&
    item["msg_type"] !== "system" &&
    textAt(objectAt(item, "sender"), "id") !== appId
  );
}

function asEvent(item: Raw, { chatId, kind }: Place): EventEnvelope {
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
