import { and, asc, desc, eq, gt, inArray, or, type SQL } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import { rowOf } from "./ids.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { isGivenUp, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies } from "./types/common.ts";
import type { OutboxChange, OutboxStore } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly rows: OutboxRows<T>;
  readonly entries: Entries;
  readonly answers: Answers;
}

const DEFAULT_LIMIT = 100;

/** What people see of the outbox, and what an operator changes in it by hand: whatever needs no lease. */
export function createOutboxDesk<T extends Bodies>(
  { database, queue, now }: Context,
  { rows, entries, answers }: Parts<T>,
): Pick<OutboxStore<T>, "answers" | "awaiting" | "get" | "withKey" | "hasOpen" | "list" | "retry" | "drop"> {
  const { db } = database;
  const reopen = database.command((p: Bound<{ seq: number; at: number }>) =>
    db
      .update(outbox)
      .set({ state: "pending", nextAt: p.at, expiresAt: null, error: null, updatedAt: p.at })
      .where(eq(outbox.seq, p.seq)),
  );
  const setDue = database.command((p: Bound<{ seq: number; at: number }>) =>
    db.update(outbox).set({ nextAt: p.at, updatedAt: p.at }).where(eq(outbox.seq, p.seq)),
  );
  const remove = database.command((p: Bound<{ seq: number }>) =>
    db.delete(outbox).where(eq(outbox.seq, p.seq)),
  );

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
    answers: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? [] : answers.of(record);
      }),

    awaiting: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? [] : answers.awaiting(record);
      }),

    get: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? undefined : rows.full(record.seq);
      }),

    withKey: (key) =>
      queue.read(() => {
        const record = rows.byKey(key);
        return record === undefined ? undefined : rows.full(record.seq);
      }),

    hasOpen: (destination) => queue.read(() => rows.hasUnsent(destination)),

    list: ({ limit = DEFAULT_LIMIT, states, changedAfter } = {}) =>
      queue.read(() => {
        const wanted = states === undefined ? isGivenUp : inArray(outbox.state, [...states]);
        if (changedAfter === undefined) return rows.list(wanted, [desc(outbox.seq)], limit);
        const order = [asc(outbox.updatedAt), asc(outbox.seq)];
        return rows.list(and(wanted, isBehind(changedAfter)), order, limit);
      }),

    retry: (id) =>
      change(id, (row) => {
        if (row.state === "pending") setDue.run({ seq: row.seq, at: now() });
        else {
          reopen.run({ seq: row.seq, at: now() });
          answers.reopened(row);
        }
      }),

    drop: (id) =>
      change(id, (row) => {
        answers.undelivered(row, "failed-reported", "dropped by an operator");
        entries.remove(row.entry);
        remove.run({ seq: row.seq });
      }),
  };
}

/** Rows that changed after a moment, or then and behind the row `id`. */
function isBehind({ at, id }: { readonly at: number; readonly id?: string }): SQL | undefined {
  const seq = (id === undefined ? undefined : rowOf(id)) ?? Number.MAX_SAFE_INTEGER;
  return or(gt(outbox.updatedAt, at), and(eq(outbox.updatedAt, at), gt(outbox.seq, seq)));
}
