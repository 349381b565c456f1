import type { Trace } from "@signalbox/protocol";
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
  const trace: Trace = { messageId, entries: rows.map(traceEntry) };
  const event = message?.payload.event;
  // Where its sender named the agent, nothing was routed.
  if (event === undefined || router === undefined || event.turn?.agent !== undefined) return trace;
  const explanation = router.explain(routeInput(event), { limit: BINDINGS_TOLD });
  return withRouteExplained(trace, explanation, message?.route);
}
