import { eq } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { FencedError, StoreError } from "./errors.ts";
import type { Fence } from "./leases.ts";
import type { OutboxEnds } from "./outbox-ends.ts";
import type { InsertOutbox } from "./outbox-insert.ts";
import { noticesAbout, prepareOutbox } from "./outbox-prepare.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies, LeaseToken, OutboxId } from "./types/common.ts";
import type { OutboxStore, PartReceipt } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: OutboxRows<T>;
  readonly insert: InsertOutbox<T>;
  readonly ends: OutboxEnds;
  readonly answers: Pick<Answers, "awaiting" | "reported">;
}

/** Creates the methods that record delivery progress. Only the holder of the lease that claimed a row can call them. */
export function createOutboxSending<T extends Bodies>(
  { database, queue, now }: Context,
  { fence, rows, insert, ends, answers }: Parts<T>,
): Pick<
  OutboxStore<T>,
  "markPart" | "markSent" | "retryAt" | "handOver" | "uncertain" | "dead" | "notDelivered"
> {
  const setReceipts = database.command(
    (p: Bound<{ seq: number; receipts: readonly PartReceipt[]; at: number }>) =>
      database.db
        .update(outbox)
        .set({ receipts: p("receipts"), updatedAt: p("at") })
        .where(eq(outbox.seq, p("seq"))),
  );
  const clearStamp = database.command((p: Bound<{ seq: number }>) =>
    database.db
      .update(outbox)
      .set({ leaseName: null, leaseEpoch: null })
      .where(eq(outbox.seq, p("seq"))),
  );
  function claimed(id: OutboxId, lease: LeaseToken): OutboxRecord {
    fence.check(lease);
    return sendingUnder(lease, id, rows.byId(id));
  }

  return {
    markPart: (id, lease, receipt) =>
      queue.write(() => {
        const row = claimed(id, lease);
        setReceipts.run({ seq: row.seq, receipts: withReceipts(row, [receipt]), at: now() });
      }),

    markSent: (id, lease, receipts) =>
      queue.write(() => {
        const row = claimed(id, lease);
        ends.end(row, "sent", { receipts: withReceipts(row, receipts ?? []) });
        answers.reported(row);
        // The message was sent, and no caller waits for this write.
      }, "patient"),

    retryAt: (id, lease, at, error) =>
      queue.write(() => ends.end(claimed(id, lease), "pending", { nextAt: at, error: error ?? null })),
    handOver: (id, lease) => queue.write(() => void clearStamp.run({ seq: claimed(id, lease).seq })),
    async uncertain(id, lease, error, word) {
      const prepared = prepareOutbox(word === undefined ? [] : [word]);
      return queue.write(() => {
        ends.end(claimed(id, lease), "uncertain", { error: error ?? null });
        insert(prepared, { lease });
      });
    },
    async dead(id, lease, error, word) {
      const prepared = prepareOutbox(word === undefined ? [] : [word]);
      return queue.write(() => {
        const row = claimed(id, lease);
        const about = answers.awaiting(row);
        ends.undelivered(row, "dead", error ?? "given up");
        insert(noticesAbout(prepared, about), { lease });
      });
    },
    async notDelivered(id, lease, error, word) {
      const prepared = prepareOutbox(word === undefined ? [] : [word]);
      return queue.write(() => {
        fence.check(lease);
        const row = rows.byId(id);
        if (row?.state !== "sent") return false;
        const about = answers.awaiting(row);
        ends.undelivered(row, "dead", error);
        insert(noticesAbout(prepared, about), { lease });
        return true;
      });
    },
  };
}

/**
 * Returns the row if it is being sent under this lease.
 *
 * @throws StoreError `not_found`, `conflict`; FencedError
 */
function sendingUnder(lease: LeaseToken, id: OutboxId, row: OutboxRecord | undefined): OutboxRecord {
  if (row === undefined) throw new StoreError("not_found", `There is no outbox row ${id}.`);
  if (row.leaseName !== null && (row.leaseName !== lease.name || row.leaseEpoch !== lease.epoch)) {
    const text = `Outbox row ${id} is being sent under lease "${row.leaseName}" of epoch ${row.leaseEpoch}.`;
    throw new FencedError(lease.name, lease.epoch, text);
  }
  if (row.state !== "sending") {
    throw new StoreError("conflict", `Outbox row ${id} is ${row.state}: claim it first.`);
  }
  return row;
}

/** Returns a row's receipts merged with new ones, one for each part. */
function withReceipts(row: OutboxRecord, added: readonly PartReceipt[]): readonly PartReceipt[] {
  const byPart = new Map([...(row.receipts ?? []), ...added].map((receipt) => [receipt.part, receipt]));
  return [...byPart.values()].sort((a, b) => a.part - b.part);
}
