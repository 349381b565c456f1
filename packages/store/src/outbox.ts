import { and, asc, eq, gt, inArray, min, sql } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import { FencedError, StoreError } from "./errors.ts";
import { type Fence, isSameLease } from "./leases.ts";
import { createOutboxDesk } from "./outbox-desk.ts";
import { type Destination, isUnsentTo, type OutboxRows, prepareOutbox } from "./outbox-rows.ts";
import type { RunRows } from "./run-rows.ts";
import { isUnsent, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies, LeaseToken, OutboxId } from "./types/common.ts";
import type { OutboxClaim, OutboxRow, OutboxState, OutboxStore, PartReceipt } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: OutboxRows<T>;
  readonly runs: RunRows;
  readonly entries: Entries;
  readonly answers: Answers;
}

interface Outcome {
  readonly state: OutboxState;
  readonly receipts: readonly PartReceipt[];
  readonly nextAt: number;
  readonly error: string | null;
}

type Claimed<T extends Bodies> = OutboxRow<T> & { readonly doubtful: boolean };

export function createOutboxStore<T extends Bodies>(context: Context, parts: Parts<T>): OutboxStore<T> {
  const { database, queue, now } = context;
  const { fence, rows, runs, answers } = parts;
  const { db } = database;
  /** The first unsent row of each address, the oldest first. */
  const heads = database.query(() => {
    const first = db
      .select({ seq: min(outbox.seq) })
      .from(outbox)
      .where(isUnsent)
      .groupBy(outbox.channel, outbox.account, outbox.address);
    return db.select().from(outbox).where(inArray(outbox.seq, first)).orderBy(asc(outbox.seq));
  });
  const nextTo = database.query((p: Bound<Destination & { seq: number }>) =>
    db
      .select()
      .from(outbox)
      .where(and(isUnsentTo(p), gt(outbox.seq, p.seq)))
      .orderBy(asc(outbox.seq))
      .limit(1),
  );
  const claim = database.command(
    (p: Bound<{ seq: number; leaseName: string; leaseEpoch: number; at: number }>) =>
      db
        .update(outbox)
        .set({
          state: "sending",
          leaseName: p.leaseName,
          leaseEpoch: p.leaseEpoch,
          attempts: sql`${outbox.attempts} + 1`,
          updatedAt: p.at,
        })
        .where(eq(outbox.seq, p.seq)),
  );
  const setOutcome = database.command((p: Bound<Outcome & { seq: number; at: number }>) =>
    db
      .update(outbox)
      .set({
        state: p.state,
        receipts: p.receipts,
        nextAt: p.nextAt,
        error: p.error,
        leaseName: null,
        leaseEpoch: null,
        updatedAt: p.at,
      })
      .where(eq(outbox.seq, p.seq)),
  );
  const setReceipts = database.command(
    (p: Bound<{ seq: number; receipts: readonly PartReceipt[]; at: number }>) =>
      db.update(outbox).set({ receipts: p.receipts, updatedAt: p.at }).where(eq(outbox.seq, p.seq)),
  );

  /** The row we are sending under this lease. */
  function sendingUnder(id: OutboxId, lease: LeaseToken): OutboxRecord {
    fence.check(lease);
    const row = rows.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no outbox row ${id}.`);
    if (row.leaseName !== null && (row.leaseName !== lease.name || row.leaseEpoch !== lease.epoch)) {
      const text = `Outbox row ${id} is being sent under lease "${row.leaseName}" of epoch ${row.leaseEpoch}.`;
      throw new FencedError(lease.name, lease.epoch, text);
    }
    if (row.state !== "sending") {
      throw new StoreError("conflict", `Outbox row ${id} is ${row.state}: it has to be claimed first.`);
    }
    return row;
  }

  function end(row: OutboxRecord, state: OutboxState, changes: Partial<Outcome> = {}): void {
    const { seq, receipts, nextAt } = row;
    setOutcome.run({ seq, state, receipts, nextAt, error: null, ...changes, at: now() });
  }

  /** It will not go out: its end, and that of the messages it answers. */
  function endUndelivered(row: OutboxRecord, state: "dead" | "expired", why: string): void {
    end(row, state, { error: why });
    answers.undelivered(row, state === "dead" ? "failed-reported" : "expired-reported", why);
  }

  /** What may be out already is for reconciliation to decide, not for the clock. */
  function isTooOld({ state, expiresAt }: OutboxRecord): boolean {
    return state === "pending" && expiresAt !== null && expiresAt <= now();
  }

  /** What nobody wants any more of what would be sent next. */
  function overdue(): OutboxRecord[] {
    const claimable: OutboxRecord[] = [];
    for (const head of heads.all())
      for (
        let row: OutboxRecord | undefined = head;
        row !== undefined && isTooOld(row);
        row = nextTo.get(row)
      )
        claimable.push(row);
    return claimable;
  }

  /** Where the clock was set back since, nobody knows for how long it was to wait, and it has waited. */
  function waits({ state, nextAt, updatedAt }: OutboxRecord): boolean {
    return state === "pending" && nextAt > now() && updatedAt <= now();
  }

  function expireOne(row: OutboxRecord): void {
    const out = row.receipts.length;
    const sent = out === 0 ? "" : `; ${out} of ${row.partCount} parts are out`;
    endUndelivered(row, "expired", `time to live passed${sent}`);
  }

  /** One whose content is missing would keep all others waiting. */
  function giveUpDamaged(row: OutboxRecord): void {
    endUndelivered(row, "dead", "its content is missing in the database");
  }

  /** Undefined for one that had to be given up. */
  function claimHead(row: OutboxRecord, lease: LeaseToken): Claimed<T> | undefined {
    claim.run({ seq: row.seq, leaseName: lease.name, leaseEpoch: lease.epoch, at: now() });
    const claimed = rows.full(row.seq);
    if (claimed !== undefined) return { ...claimed, doubtful: row.state === "sending" };
    giveUpDamaged(row);
    return undefined;
  }

  /** What is sent under the asker's own lease is under way there, also where that has run out meanwhile. */
  function isLost(row: OutboxRecord, own: LeaseToken): boolean {
    if (row.leaseName === null || row.leaseEpoch === null) return true;
    const holder = { name: row.leaseName, epoch: row.leaseEpoch };
    return !isSameLease(own, holder) && fence.lost(holder);
  }

  return {
    ...createOutboxDesk(context, parts),

    async enqueue(inserts, { lease, runId, sessionKey }) {
      const prepared = prepareOutbox(inserts);
      return queue.write(() => {
        fence.check(lease);
        const run = runId === undefined ? undefined : runs.running({ runId, lease });
        const added = rows.insert(prepared, {
          lease,
          ...(run === undefined ? {} : { run, place: run.outbox.length }),
          sessionKey: sessionKey ?? run?.sessionKey ?? null,
        });
        if (run !== undefined) runs.addOutbox(run, added);
        return added.map(({ row }) => row);
      });
    },

    overdue: () => queue.read(() => overdue().flatMap(({ seq }) => rows.full(seq) ?? [])),

    async expire(ids, lease, word) {
      const prepared = prepareOutbox(word === undefined ? [] : [word]);
      return queue.write(() => {
        fence.check(lease);
        const ended = ids.flatMap((id) => rows.byId(id) ?? []).filter(isTooOld);
        for (const row of ended) expireOne(row);
        if (ended.length > 0) rows.insert(prepared, { lease });
        return ended.flatMap(({ seq }) => rows.full(seq) ?? []);
      });
    },

    claimDue: ({ lease, limit }) =>
      queue.write((): OutboxClaim<T> => {
        fence.check(lease);
        const claimed: Claimed<T>[] = [];
        let nextAt: number | undefined;
        for (const row of heads.all()) {
          if (row.state === "sending" && !isLost(row, lease)) continue;
          if (fence.isElsewhere(row, lease)) continue;
          if (isTooOld(row)) {
            // It became so since somebody looked, and is ended when somebody looks again.
            if (rows.full(row.seq) === undefined) giveUpDamaged(row);
            nextAt = now();
          } else if (waits(row)) {
            nextAt = Math.min(nextAt ?? row.nextAt, row.nextAt);
          } else if (claimed.length < limit) {
            const taken = claimHead(row, lease);
            // What stands behind one that was given up is looked at next time.
            if (taken === undefined) nextAt = now();
            else claimed.push(taken);
          } else {
            nextAt = now();
            break;
          }
        }
        return {
          rows: claimed,
          ...(nextAt === undefined ? {} : { nextAt }),
        };
      }),

    markPart: (id, lease, receipt) =>
      queue.write(() => {
        const row = sendingUnder(id, lease);
        setReceipts.run({ seq: row.seq, receipts: withReceipts(row, [receipt]), at: now() });
      }),

    markSent: (id, lease, receipts) =>
      queue.write(() => {
        const row = sendingUnder(id, lease);
        end(row, "sent", { receipts: withReceipts(row, receipts ?? []) });
        // The message is out; nobody waits for this.
      }, "patient"),

    retryAt: (id, lease, at, error) =>
      queue.write(() => end(sendingUnder(id, lease), "pending", { nextAt: at, error: error ?? null })),
    uncertain: (id, lease, error) =>
      queue.write(() => end(sendingUnder(id, lease), "uncertain", { error: error ?? null })),
    async dead(id, lease, error, word) {
      const prepared = prepareOutbox(word === undefined ? [] : [word]);
      return queue.write(() => {
        endUndelivered(sendingUnder(id, lease), "dead", error ?? "given up");
        rows.insert(prepared, { lease });
      });
    },
  };
}

/** The receipts of a row with others added, one for each part. */
function withReceipts(row: OutboxRecord, added: readonly PartReceipt[]): readonly PartReceipt[] {
  const byPart = new Map([...row.receipts, ...added].map((receipt) => [receipt.part, receipt]));
  return [...byPart.values()].sort((a, b) => a.part - b.part);
}
