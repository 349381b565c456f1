import type { InboxId } from "@signalbox/store";
import type { Outcome } from "../service.ts";

/** Tells those who wait in this process how their messages ended. Nothing of it is needed for correctness. */
export interface Outcomes {
  /** Resolves when the message has its end. */
  wait(id: InboxId): Promise<Outcome>;
  /** The wait for a message, if somebody waits for it. */
  waiting(id: InboxId): Promise<Outcome> | undefined;
  settle(id: InboxId, outcome: Outcome): void;
}

export function createOutcomes(): Outcomes {
  const waiters = new Map<
    InboxId,
    { readonly promise: Promise<Outcome>; readonly resolve: (outcome: Outcome) => void }
  >();
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
      waiters.get(id)?.resolve(outcome);
      waiters.delete(id);
    },
  };
}
