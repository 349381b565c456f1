import { and, asc, desc, eq, gt, inArray, or, type SQL, sql } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import { rowOf } from "./ids.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { isGivenUp, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies, JsonValue } from "./types/common.ts";
import type { OutboxChange, OutboxStore } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly rows: OutboxRows<T>;
  readonly entries: Entries;
  readonly answers: Answers;
}

const DEFAULT_LIMIT = 100;
/** No index leads from a platform's id to a row, which each send would pay for. */
const LOOKED_THROUGH = 2_000;

type Read = "answers" | "awaiting" | "get" | "withKey" | "ofMessage" | "hasOpen" | "list";

/** What people see of the outbox, and what an operator changes in it by hand: whatever needs no lease. */
export function createOutboxDesk<T extends Bodies>(
  context: Context,
  parts: Parts<T>,
): Pick<OutboxStore<T>, Read | "retry" | "drop"> {
  return { ...createReads(context, parts), ...createChanges(context, parts) };
}

function createReads<T extends Bodies>(
  { database, queue }: Context,
  { rows, answers }: Parts<T>,
): Pick<OutboxStore<T>, Read> {
  const { db } = database;
  const latest = db.select().from(outbox).orderBy(desc(outbox.seq)).limit(LOOKED_THROUGH).as("latest");
  const naming = database.query((p: Bound<{ channel: string; account: string; messageId: string }>) =>
    db
      .select({ seq: latest.seq, receipts: latest.receipts })
      .from(latest)
      .where(
        and(
          eq(latest.channel, p.channel),
          eq(latest.account, p.account),
          sql`instr(${latest.receipts}, ${p.messageId}) > 0`,
        ),
      )
      .orderBy(desc(latest.seq)),
  );
  const withContent = (row: { readonly seq: number } | undefined) => row && rows.full(row.seq);

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

    get: (id) => queue.read(() => withContent(rows.byId(id))),

    withKey: (key) => queue.read(() => withContent(rows.byKey(key))),

    ofMessage: ({ channel, account, messageId }) =>
      queue.read(() => {
        // As the text of a receipt has it.
        const quoted = JSON.stringify(messageId);
        const candidates = naming.all({ channel, account, messageId: quoted });
        return withContent(
          candidates.find(({ receipts }) => receipts.some(({ receipt }) => isOfMessage(receipt, messageId))),
        );
      }),

    hasOpen: (destination) => queue.read(() => rows.hasUnsent(destination)),

    list: ({ limit = DEFAULT_LIMIT, states, changedAfter } = {}) =>
      queue.read(() => {
        const wanted = states === undefined ? isGivenUp : inArray(outbox.state, [...states]);
        if (changedAfter === undefined) return rows.list(wanted, [desc(outbox.seq)], limit);
        const order = [asc(outbox.updatedAt), asc(outbox.seq)];
        return rows.list(and(wanted, isBehind(changedAfter)), order, limit);
      }),
  };
}

/** Changes by an operator, who may be in another process: what is being sent is left to its sender. */
function createChanges<T extends Bodies>(
  { database, queue, now }: Context,
  { rows, entries, answers }: Parts<T>,
): Pick<OutboxStore<T>, "retry" | "drop"> {
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

function isOfMessage(receipt: JsonValue, messageId: string): boolean {
  return typeof receipt === "object" && receipt !== null && Reflect.get(receipt, "messageId") === messageId;
}

/** Rows that changed after a moment, or then and behind the row `id`. */
function isBehind({ at, id }: { readonly at: number; readonly id?: string }): SQL | undefined {
  const seq = (id === undefined ? undefined : rowOf(id)) ?? Number.MAX_SAFE_INTEGER;
  return or(gt(outbox.updatedAt, at), and(eq(outbox.updatedAt, at), gt(outbox.seq, seq)));
}
