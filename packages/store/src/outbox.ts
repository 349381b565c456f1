import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Entries } from "./entries.ts";
import { FencedError, StoreError } from "./errors.ts";
import { rowOf } from "./ids.ts";
import { decode, encode } from "./json.ts";
import type { Fence } from "./leases.ts";
import { type OutboxRows, prepareOutbox } from "./outbox-rows.ts";
import type { OutboxRecord } from "./records.ts";
import type { RunRows } from "./run-rows.ts";
import type { Bodies, LeaseToken, OutboxId } from "./types/common.ts";
import type {
  OutboxChange,
  OutboxClaim,
  OutboxInsert,
  OutboxRow,
  OutboxState,
  OutboxStore,
  PartReceipt,
  Undelivered,
} from "./types/outbox.ts";

/** What `list` shows unless it is told otherwise: what did not go out, and never will of itself. */
const GIVEN_UP: readonly OutboxState[] = ["dead", "uncertain", "expired"];

export function createOutboxStore<T extends Bodies>(
  { database, queue, now }: Context,
  fence: Fence,
  rows: OutboxRows<T>,
  runs: RunRows,
  entries: Entries,
  answers: Answers,
): OutboxStore<T> {
  /** The first open row of each address. */
  const heads = database.query<[], { seq: number }>(
    `SELECT min(seq) AS seq FROM outbox WHERE state IN ('pending', 'sending') GROUP BY channel, account, address`,
  );
  const nextOf = database.query<[string, string, string], OutboxRecord>(
    `SELECT * FROM outbox WHERE channel = ? AND account = ? AND address = ? AND state IN ('pending', 'sending')
     ORDER BY seq LIMIT 1`,
  );
  const claim = database.command<[string, number, number, number]>(
    `UPDATE outbox SET state = 'sending', lease_name = ?, lease_epoch = ?, attempts = attempts + 1, updated_at = ?
     WHERE seq = ?`,
  );
  const setState = database.command<[string, string | null, number, string | null, number, number]>(
    `UPDATE outbox SET state = ?, receipts = ?, next_at = ?, error = ?, lease_name = NULL, lease_epoch = NULL,
       updated_at = ? WHERE seq = ?`,
  );
  const setReceipts = database.command<[string, number, number]>(
    "UPDATE outbox SET receipts = ?, updated_at = ? WHERE seq = ?",
  );
  const reopen = database.command<[number, number]>(
    `UPDATE outbox SET state = 'pending', next_at = ?1, expires_at = NULL, error = NULL, updated_at = ?1 WHERE seq = ?2`,
  );
  const setDue = database.command<[number, number]>(
    "UPDATE outbox SET next_at = ?1, updated_at = ?1 WHERE seq = ?2",
  );
  const remove = database.command<[number]>("DELETE FROM outbox WHERE seq = ?");
  const listEnded = database.query<[number], OutboxRecord>(
    "SELECT * FROM outbox WHERE state IN ('dead', 'uncertain', 'expired') ORDER BY seq DESC LIMIT ?",
  );
  const list = database.query<[string, number], OutboxRecord>(
    "SELECT * FROM outbox WHERE state IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?",
  );
  const listChanged = database.query<[string, number, number, number], OutboxRecord>(
    `SELECT * FROM outbox WHERE state IN (SELECT value FROM json_each(?)) AND (updated_at, seq) > (?, ?)
     ORDER BY updated_at, seq LIMIT ?`,
  );

  /** The row we are sending under this lease. */
  function ours(id: OutboxId, lease: LeaseToken): OutboxRecord {
    fence.check(lease);
    const row = rows.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no outbox row ${id}.`);
    if (row.lease_name !== null && (row.lease_name !== lease.name || row.lease_epoch !== lease.epoch)) {
      const text = `Outbox row ${id} is being sent under lease "${row.lease_name}" of epoch ${row.lease_epoch}.`;
      throw new FencedError(lease.name, lease.epoch, text);
    }
    if (row.state !== "sending") {
      throw new StoreError("conflict", `Outbox row ${id} is ${row.state}: it has to be claimed first.`);
    }
    return row;
  }

  function merge(row: OutboxRecord, added: readonly PartReceipt[]): string | null {
    if (added.length === 0) return row.receipts;
    const byPart = new Map<number, PartReceipt>();
    for (const receipt of row.receipts === null ? [] : decode<PartReceipt[]>(row.receipts)) {
      byPart.set(receipt.part, receipt);
    }
    for (const receipt of added) byPart.set(receipt.part, receipt);
    return encode(
      [...byPart.values()].sort((a, b) => a.part - b.part),
      "The receipts of an outbox row",
    );
  }

  function end(id: OutboxId, lease: LeaseToken, state: OutboxState, error: string | undefined, at: number) {
    return queue.write(() => {
      const row = ours(id, lease);
      setState.run(state, row.receipts, at, error ?? null, now(), row.seq);
    });
  }

  /** The row of this address to look at now; those whose time has passed are ended on the way. */
  function unexpiredHead(seq: number, expired: Undelivered<T>[]): OutboxRecord | undefined {
    let row = rows.record(seq);
    while (row !== undefined && row.expires_at !== null && row.expires_at <= now()) {
      // What may be out already is for reconciliation to decide, not for the clock.
      if (row.state === "sending") return row;
      const out = row.receipts === null ? 0 : decode<PartReceipt[]>(row.receipts).length;
      const sent = out === 0 ? "" : `; ${out} of ${row.part_count} parts are out`;
      const why = `time to live passed${sent}`;
      setState.run("expired", row.receipts, row.next_at, why, now(), row.seq);
      const after = rows.record(row.seq);
      const messages = answers.undelivered(row, "expired-reported", why);
      if (after !== undefined) expired.push({ row: rows.toRow(after), messages });
      row = nextOf.get(row.channel, row.account, row.address);
    }
    return row;
  }

  function claimHead(
    row: OutboxRecord,
    lease: LeaseToken,
  ): (OutboxRow<T> & { doubtful: boolean }) | undefined {
    claim.run(lease.name, lease.epoch, now(), row.seq);
    const claimed = rows.record(row.seq);
    return claimed === undefined ? undefined : { ...rows.toRow(claimed), doubtful: row.state === "sending" };
  }

  /** What is sent under the asker's own lease is under way there, also where that has run out meanwhile. */
  function isLost(row: OutboxRecord, own: LeaseToken): boolean {
    if (row.lease_name === null || row.lease_epoch === null) return true;
    if (row.lease_name === own.name && row.lease_epoch === own.epoch) return false;
    return fence.lost({ name: row.lease_name, epoch: row.lease_epoch });
  }

  /** Words about rows that ended, to be sent as any other. Gives how many. */
  function addReports(inserts: readonly OutboxInsert<T>[], lease: LeaseToken): number {
    const origin = { lease, run: null, runId: null, sessionKey: null, place: 0 };
    return rows.insert(prepareOutbox(inserts), origin).length;
  }

  /** A change by an operator, who may be in another process: what is being sent is left to its sender. */
  function change(id: string, apply: (row: OutboxRecord) => void): Promise<OutboxChange> {
    return queue.write((): OutboxChange => {
      const row = rows.byId(id);
      if (row === undefined) return { outcome: "unknown" };
      const { state } = row;
      if (state === "sending" || state === "sent") return { outcome: "refused", state };
      apply(row);
      return { outcome: "applied", state };
    });
  }

  return {
    async enqueue(inserts, { lease, runId, sessionKey }) {
      const prepared = prepareOutbox(inserts);
      return queue.write(() => {
        fence.check(lease);
        const run = runId === undefined ? undefined : runs.running({ runId, lease });
        const place = run === undefined ? 0 : runs.outboxOf(run).length;
        const key = sessionKey ?? run?.session_key ?? null;
        const origin = { lease, run: run?.n ?? null, runId: runId ?? null, sessionKey: key, place };
        const added = rows.insert(prepared, origin);
        if (run !== undefined) runs.addOutbox(run, added);
        return added;
      });
    },

    claimDue: ({ lease, limit, report }) =>
      queue.write((): OutboxClaim<T> => {
        fence.check(lease);
        const claimed: (OutboxRow<T> & { doubtful: boolean })[] = [];
        const expired: Undelivered<T>[] = [];
        let nextAt: number | undefined;
        const oldestFirst = heads.all().sort((a, b) => a.seq - b.seq);
        for (const { seq } of oldestFirst) {
          const row = unexpiredHead(seq, expired);
          if (row === undefined || (row.state === "sending" && !isLost(row, lease))) continue;
          if (row.state === "pending" && row.next_at > now()) {
            nextAt = Math.min(nextAt ?? row.next_at, row.next_at);
          } else if (claimed.length < limit) {
            const ours = claimHead(row, lease);
            if (ours !== undefined) claimed.push(ours);
          } else {
            nextAt = now();
            break;
          }
        }
        // They wait behind what is there already.
        if (expired.length > 0 && report !== undefined && addReports(report(expired), lease) > 0)
          nextAt = now();
        return {
          rows: claimed,
          expired: expired.map(({ row }) => row),
          ...(nextAt === undefined ? {} : { nextAt }),
        };
      }),

    async markPart(id, lease, receipt) {
      return queue.write(() => {
        const row = ours(id, lease);
        const receipts = merge(row, [receipt]);
        if (receipts !== null) setReceipts.run(receipts, now(), row.seq);
      });
    },

    async markSent(id, lease, receipts) {
      return queue.write(() => {
        const row = ours(id, lease);
        setState.run("sent", merge(row, receipts ?? []), row.next_at, null, now(), row.seq);
        // The message is out; nobody waits for this.
      }, "patient");
    },

    retryAt: (id, lease, at, error) => end(id, lease, "pending", error, at),
    uncertain: (id, lease, error) => end(id, lease, "uncertain", error, now()),
    dead: (id, lease, error, report) =>
      queue.write(() => {
        const record = ours(id, lease);
        setState.run("dead", record.receipts, now(), error ?? null, now(), record.seq);
        const messages = answers.undelivered(record, "failed-reported", error ?? "given up");
        const row = rows.record(record.seq);
        if (row !== undefined && report !== undefined)
          addReports(report({ row: rows.toRow(row), messages }), lease);
      }),

    answers: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? [] : answers.of(record);
      }),

    get: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? undefined : rows.toRow(record);
      }),

    withKey: (key) =>
      queue.read(() => {
        const record = rows.byKey(key);
        return record === undefined ? undefined : rows.toRow(record);
      }),

    ofRun: (runId) =>
      queue.read(() => {
        const run = runs.byId(runId);
        const seqs = run === undefined ? [] : runs.outboxOf(run);
        return seqs.flatMap((seq) => {
          const record = rows.record(seq);
          const row = record === undefined ? undefined : rows.toRow(record);
          return row?.runId === runId ? [row] : [];
        });
      }),

    list: (filter) =>
      queue.read(() => {
        const { limit = 100, states, changedAfter } = filter ?? {};
        if (changedAfter !== undefined) {
          const { at, id } = changedAfter;
          const seq = id === undefined ? undefined : rowOf(id);
          const wanted = JSON.stringify(states ?? GIVEN_UP);
          return listChanged.all(wanted, at, seq ?? Number.MAX_SAFE_INTEGER, limit).map(rows.toRow);
        }
        const records = states === undefined ? listEnded.all(limit) : list.all(JSON.stringify(states), limit);
        return records.map(rows.toRow);
      }),

    retry: (id) =>
      change(id, (row) => {
        if (row.state === "pending") setDue.run(now(), row.seq);
        else {
          reopen.run(now(), row.seq);
          answers.reopened(row);
        }
      }),

    drop: (id) =>
      change(id, (row) => {
        answers.undelivered(row, "failed-reported", "dropped by an operator");
        entries.remove(row.entry);
        remove.run(row.seq);
      }),
  };
}
