import { noticesAbout, prepareOutbox } from "@signalbox/store/backend";
import { FencedError, StoreError } from "@signalbox/store/errors";
import type {
  Bodies,
  InboxId,
  LeaseToken,
  OutboxId,
  OutboxInsert,
  OutboxStore,
  PartReceipt,
} from "@signalbox/store/types";
import { lockAwaiting, markReported } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { endAttempt, endUndelivered } from "./outbox-ends.ts";
import type { ReadOutbox } from "./outbox-insert.ts";
import { lockOutboxRow, updateOutboxRow } from "./outbox-rows.ts";
import type { OutboxRecord } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Creates the methods that record delivery progress. Only the holder of the lease that claimed a row can call them. */
export function createOutboxSending<T extends Bodies>(
  { database }: Context,
  fence: Fence,
  readOutbox: ReadOutbox<T>,
): Pick<
  OutboxStore<T>,
  "markPart" | "markSent" | "retryAt" | "handOver" | "uncertain" | "dead" | "notDelivered"
> {
  /** Runs a write on a row that is being sent under this lease. */
  function write(
    id: OutboxId,
    lease: LeaseToken,
    apply: (tx: Transaction, row: OutboxRecord, at: number) => void,
  ): Promise<void> {
    return database.write(async (tx) => {
      const [, row, at] = await Promise.all([fence.check(tx, lease), lockOutboxRow(tx, id), tx.now]);
      apply(tx, sendingUnder(lease, id, row), at);
    }, `outbox ${id}`);
  }

  /** Runs a write that ends a row and adds a notice about it. `about` are the messages that depended on the row. */
  async function writeWithNotice<R>(
    id: OutboxId,
    lease: LeaseToken,
    word: OutboxInsert<T["outbound"]> | undefined,
    apply: (tx: Transaction, row: OutboxRecord | undefined, at: number) => Promise<Ended<R>>,
  ): Promise<R> {
    const prepared = prepareOutbox(word === undefined ? [] : [word]);
    return database.write(async (tx) => {
      const [, row, insert, at] = await Promise.all([
        fence.check(tx, lease),
        lockOutboxRow(tx, id),
        readOutbox(tx, prepared),
        tx.now,
      ]);
      const { about, result } = await apply(tx, row, at);
      if (about !== undefined)
        insert(about.length === 0 ? prepared : noticesAbout(prepared, about), { lease }, at);
      return result;
    }, `outbox ${id}`);
  }

  return {
    markPart: (id, lease, receipt) =>
      write(id, lease, (tx, row, at) =>
        updateOutboxRow(tx, row.seq, { receipts: withReceipts(row, [receipt]), updatedAt: at }),
      ),

    markSent: (id, lease, receipts = []) =>
      write(id, lease, (tx, row, at) => {
        endAttempt(tx, row, "sent", at, { receipts: withReceipts(row, receipts) });
        markReported(tx, row);
      }),

    retryAt: (id, lease, nextAt, error) =>
      write(id, lease, (tx, row, at) => endAttempt(tx, row, "pending", at, { nextAt, error: error ?? null })),

    handOver: (id, lease) =>
      write(id, lease, (tx, row) => updateOutboxRow(tx, row.seq, { leaseName: null, leaseEpoch: null })),

    uncertain: (id, lease, error, word) =>
      writeWithNotice<void>(id, lease, word, async (tx, row, at) => {
        endAttempt(tx, sendingUnder(lease, id, row), "uncertain", at, { error: error ?? null });
        return { about: [], result: undefined };
      }),

    dead: (id, lease, error = "given up", word) =>
      writeWithNotice<void>(id, lease, word, async (tx, row, at) => {
        const sending = sendingUnder(lease, id, row);
        const about = await lockAwaiting(tx, sending);
        endUndelivered(tx, sending, "dead", error, at);
        return { about, result: undefined };
      }),

    notDelivered: (id, lease, error, word) =>
      writeWithNotice(id, lease, word, async (tx, row, at) => {
        if (row?.state !== "sent") return { result: false };
        const about = await lockAwaiting(tx, row);
        endUndelivered(tx, row, "dead", error, at);
        return { about, result: true };
      }),
  };
}

interface Ended<R> {
  /** The messages that the notice reports. Undefined if there is nothing to report. */
  readonly about?: readonly InboxId[];
  readonly result: R;
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
function withReceipts({ receipts }: OutboxRecord, added: readonly PartReceipt[]): readonly PartReceipt[] {
  const byPart = new Map([...receipts, ...added].map((receipt) => [receipt.part, receipt]));
  return [...byPart.values()].sort((a, b) => a.part - b.part);
}
