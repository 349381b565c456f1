import type { Trace } from "@signalbox/client";
import type { InboxId, JsonValue } from "@signalbox/store";
import type { GatewayStore } from "./stored.ts";

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

/** Every note about a message, by the gateway's id or the platform's. */
export async function readTrace(store: GatewayStore, id: string): Promise<Trace | undefined> {
  const found = await store.inbox.find({ messageId: id });
  const messageId: string = found?.id ?? id;
  const rows = await store.traces.read(messageId);
  if (rows.length === 0 && !found) return undefined;
  const entries = rows.map(({ stage, at, data }) => {
    const note = isRecord(data) ? data : {};
    const summary = typeof note["summary"] === "string" ? note["summary"] : stage;
    return { at, stage, summary, ...(note["data"] === undefined ? {} : { data: note["data"] }) };
  });
  return { messageId, entries };
}

function isRecord(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
