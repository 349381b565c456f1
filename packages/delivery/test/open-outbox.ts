import { openStore, parseId } from "@signalbox/store";
import type { InboxId, KvStore, LeaseToken, RunId, SqliteStore } from "@signalbox/store/types";
import { onTestFinished } from "vitest";
import type { DeliveryBodies, OutboxStore } from "../src/outbox.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** An outbox in memory. */
export interface OpenOutbox {
  readonly store: SqliteStore<DeliveryBodies>;
  readonly outbox: OutboxStore;
  readonly notes: KvStore;
  readonly lease: LeaseToken;
  /** The clock of the store. `advance` and `settle` also wait for pending calls of the outbox and the notes. */
  readonly clock: ManualClock;
  /** Makes writes fail with this error until it is called with `undefined`. */
  fail(error: Error | undefined): void;
  /** Makes the next write fail. */
  failOnce(error: Error): void;
  /** Claims the due rows and marks them as sent, with these platform ids for their parts. */
  markSent(...messageIds: readonly string[]): Promise<void>;
  /** Acquires the lease again, as a restarted process does: rows under the earlier lease are lost. */
  takeOver(): Promise<LeaseToken>;
}

/** Opens an empty outbox; the test closes it. */
export async function openOutbox(): Promise<OpenOutbox> {
  let pending = 0;
  let failure: Error | undefined;
  let failsOnce = false;
  const clock = createManualClock(() => pending > 0);
  const store = await openStore<DeliveryBodies>({
    path: ":memory:",
    clock: clock.now,
    limits: { commitSpacingMs: 0 },
    faults() {
      const error = failure;
      if (failsOnce) failure = undefined;
      if (error !== undefined) throw error;
    },
  });
  onTestFinished(() => store.close());
  const takeOver = async (): Promise<LeaseToken> => {
    const lease = await store.leases.acquire("gateway", "test", 1e12);
    if (lease === undefined) throw new Error("The lease of a new store is taken.");
    return lease;
  };

  /** Counts the pending calls of a part of the store. */
  function counted<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          pending += 1;
          try {
            return await method(...args);
          } finally {
            pending -= 1;
          }
        };
      },
    });
  }

  const outbox = counted(store.outbox);
  const lease = await takeOver();
  return {
    store,
    outbox,
    notes: counted(store.kv),
    lease,
    clock,
    async markSent(...messageIds) {
      const receipts = messageIds.map((messageId, part) => ({ part, receipt: { messageId } }));
      const { rows } = await outbox.claimDue({ lease, limit: 10 });
      for (const { id } of rows) await outbox.markSent(id, lease, receipts);
    },
    fail(error) {
      failure = error;
      failsOnce = false;
    },
    failOnce(error) {
      failure = error;
      failsOnce = true;
    },
    takeOver,
  };
}

/** Returns an id that the store does not know. */
function createId<Id extends RunId | InboxId>(): Id {
  const id = parseId<Id>("0".repeat(26));
  if (id === undefined) throw new Error("It is not an id.");
  return id;
}

export const createRunId = (): RunId => createId<RunId>();
export const createInboxId = (): InboxId => createId<InboxId>();
