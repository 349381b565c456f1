import type { PromptSection } from "@signalbox/prompt";
import type { Trace } from "@signalbox/protocol";
import type { Router } from "@signalbox/routing";
import { type InboxId, type InboxRow, type JsonValue, parseId } from "@signalbox/store";
import { withRouteExplained } from "../path/2-admit/explain-route.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";

/** The stages a message goes through, in order. */
type Stage = "intake" | "routing" | "gate" | "lane" | "prompt" | "model" | "tool" | "reply" | "outbox";

/** Notes what each stage did with a message; what runs the message also explains it. */
export interface Tracer {
  note(messageId: InboxId, stage: Stage, summary: string, data?: JsonValue): void;
}

/** Notes are written behind: they never hold up a message, and a failure to write one is told, not thrown. */
export function createTracer(store: GatewayStore, onError: (error: unknown) => void): Tracer {
  return {
    note(messageId, stage, summary, data) {
      const entry = { stage, data: data === undefined ? { summary } : { summary, data } };
      store.traces.append(messageId, [entry]).catch(onError);
    },
  };
}

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
  const found = await findMessage(store, id);
  const messageId: string = found?.id ?? id;
  const rows = await store.traces.read(messageId);
  if (rows.length === 0 && !found) return undefined;
  const entries = rows.map(({ stage, at, data }) => {
    const note = isRecord(data) ? data : {};
    const summary = typeof note["summary"] === "string" ? note["summary"] : stage;
    const told = note["data"];
    return { at, stage, summary, ...(told === undefined ? {} : { data: spelledOut(told) }) };
  });
  const trace = { messageId, entries };
  return found && router ? withRouteExplained(trace, found.payload, found.route, router) : trace;
}

function isRecord(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

type Packed = readonly [name: string, part: string, chars: number, tokens: number];

/** Every message has a dozen sections: with the names of their fields they would be most of its trace. */
export function packed(sections: readonly PromptSection[]): Packed[] {
  return sections.map(({ name, part, chars, tokens }) => [name, part, chars, tokens]);
}

function spelledOut(data: JsonValue): JsonValue {
  if (!isRecord(data) || !Array.isArray(data["sections"])) return data;
  const sections: readonly JsonValue[] = data["sections"];
  return {
    ...data,
    sections: sections.map((section) => {
      if (!Array.isArray(section)) return section;
      const [name = null, part = null, chars = null, tokens = null]: readonly JsonValue[] = section;
      return { name, part, chars, tokens };
    }),
  };
}
