import type { MessageInfo, Trace } from "@signalbox/protocol";
import type { Router } from "@signalbox/routing";
import { type InboxId, type InboxRow, parseId } from "@signalbox/store";
import { type Tracer as TracerOf, traceEntry, withRouteExplained } from "@signalbox/telemetry";
import { routeInput } from "./path/2-admit/route.ts";
import type { GatewayBodies, GatewayStore } from "./store.ts";

/** Notes about messages, by the stages they go through, in order. */
export type Tracer = TracerOf<
  "intake" | "routing" | "gate" | "lane" | "prompt" | "model" | "tool" | "reply" | "outbox"
>;

/** Bindings of each tier whose mismatches are told. */
const BINDINGS_TOLD = 5;

/** A message by the platform's id or the gateway's. */
export async function findMessage(
  store: GatewayStore,
  id: string,
): Promise<InboxRow<GatewayBodies> | undefined> {
  const own = parseId<InboxId>(id.toUpperCase());
  return (await store.inbox.find({ messageId: id })) ?? (own && (await store.inbox.get(own)));
}

/** A message with what became of it; the rule that let it in counts until it has an end of its own. */
export function messageInfo(row: InboxRow<GatewayBodies>): MessageInfo {
  const { id, messageId, receivedAt, channel, account, conversationId, senderId, state, payload } = row;
  const rule = row.detail?.rule ?? payload.rule;
  const { route, detail } = row;
  return {
    id,
    at: receivedAt,
    channel,
    account,
    conversation: conversationId,
    sender: senderId,
    state,
    rule,
    ...(messageId === undefined ? {} : { messageId }),
    text: payload.event.text,
    ...(route === undefined ? {} : { agent: route.agentId, sessionKey: route.sessionKey }),
    ...(detail?.reason === undefined ? {} : { reason: detail.reason }),
  };
}

/** Every note about a message, by the gateway's id or the platform's; with a router, its route is explained. */
export async function readTrace(
  store: GatewayStore,
  id: string,
  router?: Pick<Router, "explain">,
): Promise<Trace | undefined> {
  const message = await findMessage(store, id);
  const messageId: string = message?.id ?? id;
  const rows = await store.traces.read(messageId);
  if (rows.length === 0 && message === undefined) return undefined;
  const trace: Trace = {
    messageId,
    entries: rows.map(traceEntry),
    ...(message === undefined ? {} : { message: messageInfo(message) }),
  };
  const event = message?.payload.event;
  // Where its sender named the agent, nothing was routed.
  if (event === undefined || router === undefined || event.turn?.agent !== undefined) return trace;
  const explanation = router.explain(routeInput(event), { limit: BINDINGS_TOLD });
  return withRouteExplained(trace, explanation, message?.route);
}
