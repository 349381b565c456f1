import { and, asc, eq, inArray, min, sql } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import { FencedError, StoreError } from "./errors.ts";
import type { Fence } from "./leases.ts";
import { createOutboxDesk } from "./outbox-desk.ts";
import { type OutboxRows, prepareOutbox } from "./outbox-rows.ts";
import type { RunRows } from "./run-rows.ts";
import { isUnsent, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies, LeaseToken, OutboxId } from "./types/common.ts";
import type {
  OutboxClaim,
  OutboxInsert,
  OutboxRow,
  OutboxState,
  OutboxStore,
  PartReceipt,
  Undelivered,
} from "./types/outbox.ts";

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
  const nextTo = database.query((p: Bound<{ channel: string; account: string; address: string }>) =>
    db
      .select()
      .from(outbox)
      .where(
        and(
          eq(outbox.channel, p.channel),
          eq(outbox.account, p.account),
          eq(outbox.address, p.address),
          isUnsent,
        ),
      )
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
  function endUndelivered(
    row: OutboxRecord,
    state: "dead" | "expired",
    why: string,
  ): Undelivered<T> | undefined {
    end(row, state, { error: why });
    const messages = answers.undelivered(row, state === "dead" ? "failed-reported" : "expired-reported", why);
    const ended = rows.full(row.seq);
    return ended === undefined ? undefined : { row: ended, messages };
  }

  /** What may be out already is for reconciliation to decide, not for the clock. */
  function isTooOld({ state, expiresAt }: OutboxRecord): boolean {
    return state === "pending" && expiresAt !== null && expiresAt <= now();
  }

  /** Ends what nobody wants any more of what would be sent next. */
  function expire(): Undelivered<T>[] {
    const expired: Undelivered<T>[] = [];
    for (const head of heads.all()) {
      for (
        let row: OutboxRecord | undefined = head;
        row !== undefined && isTooOld(row);
        row = nextTo.get(row)
      ) {
        const out = row.receipts.length;
        const sent = out === 0 ? "" : `; ${out} of ${row.partCount} parts are out`;
        const ended = endUndelivered(row, "expired", `time to live passed${sent}`);
        if (ended !== undefined) expired.push(ended);
      }
    }
    return expired;
  }

  /** One whose content is missing would keep all others waiting: it is given up instead. */
  function claimHead(row: OutboxRecord, lease: LeaseToken): Claimed<T> | undefined {
    claim.run({ seq: row.seq, leaseName: lease.name, leaseEpoch: lease.epoch, at: now() });
    const claimed = rows.full(row.seq);
    if (claimed !== undefined) return { ...claimed, doubtful: row.state === "sending" };
    endUndelivered(row, "dead", "its content is missing in the database");
    return undefined;
  }

  /** What is sent under the asker's own lease is under way there, also where that has run out meanwhile. */
  function isLost(row: OutboxRecord, own: LeaseToken): boolean {
    if (row.leaseName === null || row.leaseEpoch === null) return true;
    if (row.leaseName === own.name && row.leaseEpoch === own.epoch) return false;
    return fence.lost({ name: row.leaseName, epoch: row.leaseEpoch });
  }

  /** Adds words about rows that ended, to be sent as any other. */
  function addReports(inserts: readonly OutboxInsert<T>[], lease: LeaseToken): void {
    rows.insert(prepareOutbox(inserts), { lease });
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
        if (run !== undefined)
          runs.addOutbox(
            run,
            added.map(({ seq }) => seq),
          );
        return added.map(({ row }) => row);
      });
    },

    claimDue: ({ lease, limit, report }) =>
      queue.write((): OutboxClaim<T> => {
        fence.check(lease);
        const expired = expire();
        if (expired.length > 0 && report !== undefined) addReports(report(expired), lease);
        const claimed: Claimed<T>[] = [];
        let nextAt: number | undefined;
        for (const row of heads.all()) {
          if (row.state === "sending" && !isLost(row, lease)) continue;
          if (row.state === "pending" && row.nextAt > now()) {
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
          expired: expired.map(({ row }) => row),
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
    dead: (id, lease, error, report) =>
      queue.write(() => {
        const ended = endUndelivered(sendingUnder(id, lease), "dead", error ?? "given up");
        if (ended !== undefined && report !== undefined) addReports(report(ended), lease);
      }),
  };
}

/** The receipts of a row with others added, one for each part. */
function withReceipts(row: OutboxRecord, added: readonly PartReceipt[]): readonly PartReceipt[] {
  const byPart = new Map([...row.receipts, ...added].map((receipt) => [receipt.part, receipt]));
  return [...byPart.values()].sort((a, b) => a.part - b.part);
}
