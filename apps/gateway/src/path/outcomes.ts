import type { InboxId, OutboxRow } from "@signalbox/store";
import type { Outcome } from "../service.ts";
import type { GatewayBodies } from "./stored.ts";
import type { Tracer } from "./trace.ts";

/** Tells those who wait in this process how their messages ended. Nothing of it is needed for correctness. */
export interface Outcomes {
  /** Resolves when the message has its end. */
  wait(id: InboxId): Promise<Outcome>;
  /** The wait for a message, if somebody waits for it. */
  waiting(id: InboxId): Promise<Outcome> | undefined;
  settle(id: InboxId, outcome: Outcome): void;
  /** Notes the fate of a reply in the traces of the messages its run answered. */
  delivered(row: OutboxRow<GatewayBodies>, state: string, detail: string, tracer: Tracer): void;
}

/** Runs whose replies are on their way, for the traces of their messages. */
const REMEMBERED_RUNS = 2_000;

export function createOutcomes(): Outcomes {
  const waiters = new Map<
    InboxId,
    { readonly promise: Promise<Outcome>; readonly resolve: (outcome: Outcome) => void }
  >();
  const messagesOfRun = new Map<string, InboxId[]>();
  return {
    wait(id) {
      const known = waiters.get(id);
      if (known) return known.promise;
      const waiter = Promise.withResolvers<Outcome>();
      waiters.set(id, waiter);
      return waiter.promise;
    },
    waiting: (id) => waiters.get(id)?.promise,
    settle(id, outcome) {
      if (outcome.runId !== undefined) {
        messagesOfRun.set(outcome.runId, [...(messagesOfRun.get(outcome.runId) ?? []), id]);
        const [oldest] = messagesOfRun.keys();
        if (messagesOfRun.size > REMEMBERED_RUNS && oldest !== undefined) messagesOfRun.delete(oldest);
      }
      waiters.get(id)?.resolve(outcome);
      waiters.delete(id);
    },
    delivered(row, state, detail, tracer) {
      if (row.runId === undefined) return;
      for (const id of messagesOfRun.get(row.runId) ?? [])
        tracer.note(id, "outbox", `${state}: ${detail}`, { outbox: row.id });
    },
  };
}
