import type { MessageEvent } from "@signalbox/channel";
import { type Language, phrasesIn } from "@signalbox/phrases";
import type { MessageInfo, Trace, Why } from "@signalbox/protocol";
import type { RouteExplanation } from "@signalbox/routing";
import { type Bodies, type InboxId, type InboxRow, type InboxStore, parseId } from "@signalbox/store";
import { explain, traceEntry, withRouteExplained } from "@signalbox/telemetry";
import { type OpenReplies, readOpenReplies } from "./open-replies.ts";
import type { ServiceStore, StoredRow } from "./service-store.ts";

/** Explains how a message was routed. */
export type ExplainRoute = (event: MessageEvent) => RouteExplanation;

/** Finds a message by the gateway's id, or the newest message with a platform's id. Client ids are not unique. */
export async function findMessage<T extends Bodies>(
  { inbox }: { readonly inbox: InboxStore<T> },
  id: string,
): Promise<InboxRow<T> | undefined> {
  const own = parseId<InboxId>(id.toUpperCase());
  return (own && (await inbox.get(own))) ?? (await inbox.find({ messageId: id }));
}

type Place = Pick<MessageEvent, "channel" | "account" | "conversation">;

/** Finds a message in this conversation by its platform id. The id by itself does not identify the conversation. */
export async function findInConversation<T extends Bodies>(
  { inbox }: { readonly inbox: InboxStore<T> },
  { channel, account, conversation }: Place,
  messageId: string,
): Promise<InboxRow<T> | undefined> {
  const row = await inbox.find({ channel, account, messageId });
  return row?.conversationId === conversation.id ? row : undefined;
}

export async function isOfConversation<T extends Bodies>(
  store: { readonly inbox: InboxStore<T> },
  place: Place,
  messageId: string,
): Promise<boolean> {
  return (await findInConversation(store, place, messageId)) !== undefined;
}

/**
 * Returns a message and its outcome. The admission rule is shown until there is an outcome.
 *
 * @param replies open replies. A message whose reply is not delivered is not `replied` yet.
 */
export function messageInfo(row: StoredRow, replies: OpenReplies): MessageInfo {
  const { id, messageId, receivedAt, channel, account, conversationId, senderId, payload } = row;
  const rule = row.detail?.rule ?? payload.rule;
  const { route, detail } = row;
  const reply = row.state === "replied" ? replies.get(id) : undefined;
  const reason = reply === undefined ? detail?.reason : reply.error;
  return {
    id,
    at: receivedAt,
    channel,
    account,
    conversation: conversationId,
    sender: senderId,
    senderName: payload.event.sender.name,
    state: reply?.state ?? row.state,
    rule,
    messageId,
    text: payload.event.text,
    agent: route?.agentId,
    sessionKey: route?.sessionKey,
    reason,
  };
}

/** Returns messages with their outcomes, including those of the deliveries of their replies. */
export async function listMessages(
  store: Pick<ServiceStore, "inbox" | "outbox">,
  filter: Parameters<ServiceStore["inbox"]["list"]>[0],
): Promise<MessageInfo[]> {
  const [rows, replies] = await Promise.all([store.inbox.list(filter), readOpenReplies(store)]);
  return rows.map((row) => messageInfo(row, replies));
}

/** Reads all trace entries of a message, by the gateway's id or the platform's id. */
export async function readTrace(
  store: ServiceStore,
  id: string,
  explainRoute?: ExplainRoute,
): Promise<Trace | undefined> {
  const message = await findMessage(store, id);
  const messageId: string = message?.id ?? id;
  const rows = await store.traces.read(messageId);
  if (rows.length === 0 && message === undefined) return undefined;
  const replies = await readOpenReplies(store);
  const trace: Trace = {
    messageId,
    entries: rows.map(traceEntry),
    message: message === undefined ? undefined : messageInfo(message, replies),
  };
  const event = message?.payload.event;
  // A message that names its agent was not routed.
  if (event === undefined || explainRoute === undefined || event.turn?.agent !== undefined) return trace;
  return withRouteExplained(trace, explainRoute(event), message?.route);
}

/** Explains what happened to a message: a summary and its trace. */
export async function readWhy(
  store: ServiceStore,
  messageId: string,
  language: Language,
  explainRoute: ExplainRoute,
): Promise<Why | undefined> {
  const trace = await readTrace(store, messageId, explainRoute);
  return trace && { trace, ...explain(trace, phrasesIn(language)) };
}
