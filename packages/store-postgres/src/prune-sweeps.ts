import { and, eq, inArray, lt, not, type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import {
  groupHistory,
  inbox,
  isUnsent,
  message,
  messageContext,
  outbox,
  run,
  session,
  toldHistory,
  toolCall,
  trace,
} from "./schema/index.ts";
import { sweep } from "./sweep.ts";
import type { Transaction } from "./transaction.ts";

/** Removes rows older than a time and returns their number. */
type Sweeper = (limit: number) => Promise<number>;

/** Sweepers for the tables that are pruned by age. */
export interface Sweepers {
  readonly inbox: Sweeper;
  readonly runs: Sweeper;
  readonly outbox: Sweeper;
  readonly traces: Sweeper;
  readonly messages: Sweeper;
  readonly groupHistory: Sweeper;
}

/**
 * Selects the unsent replies of a run. If such a reply fails, its messages get another final state and their senders
 * get a notice. The run and its messages therefore stay until the reply is sent.
 */
const hasUnsentReply = (isRun: SQL): SQL => sql`EXISTS (SELECT 1 FROM ${run} AS made
  JOIN ${outbox} ON ${outbox.seq} = ANY(made.outbox) WHERE ${isRun} AND ${isUnsent})`;

/** The numbers of the messages that unsent replies without a run answer. */
const ANSWERED = sql`(SELECT unnest(${outbox.answers}) FROM ${outbox} WHERE ${isUnsent})`;

export function createSweepers(database: Database): Sweepers {
  return {
    inbox: (limit) =>
      sweep(database, {
        table: inbox,
        key: { seq: inbox.seq },
        goes: and(
          lt(inbox.settledAt, limit),
          sql`${inbox.seq} NOT IN ${ANSWERED}`,
          not(hasUnsentReply(sql`made.n = ${inbox.run}`)),
        ),
      }),
    runs: (limit) =>
      sweep(database, {
        table: run,
        key: { n: run.n },
        goes: and(lt(run.finishedAt, limit), not(hasUnsentReply(sql`made.n = ${run.n}`))),
        alsoRemove: ({ db, send }, removed) => {
          const numbers = removed.map(({ n }) => Number(n));
          send(db.delete(toolCall).where(inArray(toolCall.run, numbers)));
        },
      }),
    outbox: (limit) =>
      sweep(database, {
        table: outbox,
        key: { seq: outbox.seq },
        goes: and(lt(outbox.updatedAt, limit), not(isUnsent)),
      }),
    traces: (limit) => sweep(database, { table: trace, key: { n: trace.n }, goes: lt(trace.at, limit) }),
    messages: (limit) =>
      sweep(database, {
        table: message,
        key: { sessionKey: message.sessionKey, seq: message.seq },
        goes: and(lt(message.at, limit), not(isInHistory)),
        alsoRemove: removeContexts,
      }),
    groupHistory: (limit) =>
      sweep(database, { table: groupHistory, key: { n: groupHistory.n }, goes: lt(groupHistory.at, limit) }),
  };
}

const isInHistory = sql`EXISTS (SELECT 1 FROM ${session} WHERE ${and(
  eq(session.key, message.sessionKey),
  eq(session.generation, message.generation),
  lt(session.floorSeq, message.seq),
)})`;

function removeContexts(
  { db, send }: Transaction,
  removed: readonly Readonly<Record<string, unknown>>[],
): void {
  const bySession = Map.groupBy(removed, ({ sessionKey }) => String(sessionKey));
  for (const [key, rows] of bySession) {
    const seqs = rows.map(({ seq }) => Number(seq));
    for (const table of [messageContext, toldHistory])
      send(db.delete(table).where(and(eq(table.sessionKey, key), inArray(table.seq, seqs))));
  }
}
