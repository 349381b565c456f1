import { and, eq, inArray, lt, notExists, notInArray, type SQL, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Command, Database } from "./database.ts";
import {
  eachOf,
  entry,
  groupHistory,
  inbox,
  isUnsent,
  messageContext,
  outbox,
  run,
  session,
  toldHistory,
  toolCall,
  trace,
} from "./schema/index.ts";
import { createSweeper, inStretch, isNotNewest, type Stretch, type Sweep, type Sweeper } from "./sweep.ts";

/** Sweepers for the tables that are pruned by age. */
export interface Sweepers {
  readonly inbox: Sweeper;
  readonly runs: Sweeper;
  readonly outbox: Sweeper;
  readonly traces: Sweeper;
  readonly messages: Sweeper;
  readonly groupHistory: Sweeper;
}

export function createSweepers(context: Context): Sweepers {
  const { database } = context;
  return {
    inbox: createSweeper(context, inboxSweep(database)),
    runs: createSweeper(context, runSweep(database)),
    outbox: createSweeper(context, outboxSweep(database)),
    traces: createSweeper(context, byAge(trace)),
    messages: createSweeper(context, messageSweep(database)),
    groupHistory: createSweeper(context, byAge(groupHistory)),
  };
}

function byAge(table: typeof trace | typeof groupHistory): Sweep {
  const { n, at } = table;
  return { table, number: n, time: at, goes: (p) => and(inStretch(n, p), lt(at, p("limit"))) };
}

/**
 * Selects the unsent replies of runs. If such a reply fails, its messages get another final state and their senders get
 * a notice. The run and its messages therefore stay until the reply is sent. The query starts from the run, because the
 * number of waiting replies is unlimited.
 */
const unsentOf = (runs: SQL) =>
  sql`(SELECT 1 FROM ${runs} AS reply CROSS JOIN ${outbox} ON ${outbox.seq} = reply.value WHERE ${isUnsent}`;
const runReplies = eachOf(run.outbox);

function inboxSweep(database: Database): Sweep {
  const goes: Sweep["goes"] = (p) =>
    and(
      inStretch(inbox.seq, p),
      lt(inbox.settledAt, p("limit")),
      isNotNewest(inbox, inbox.seq),
      notInArray(inbox.seq, sql`(SELECT value FROM json_each(${p("spared")}))`),
      notExists(sql`${unsentOf(sql`${run} CROSS JOIN ${runReplies}`)} AND ${run.n} = ${inbox.run})`),
    );
  return {
    table: inbox,
    number: inbox.seq,
    time: inbox.receivedAt,
    goes,
    before: [removeBodies(database, inbox, goes)],
    // Messages answered by unsent rows that do not belong to a run. Messages answered during the sweep ended too
    // recently to be removed.
    spared: database.handWritten<object, { number: number }>(
      `SELECT answered.value AS number FROM outbox
       CROSS JOIN json_each(CASE WHEN json_valid(outbox.answers) THEN outbox.answers END) AS answered
       WHERE outbox.state IN ('pending', 'sending')`,
    ),
  };
}

function runSweep(database: Database): Sweep {
  const { db } = database;
  const goes: Sweep["goes"] = (p) =>
    and(
      inStretch(run.n, p),
      lt(run.finishedAt, p("limit")),
      isNotNewest(run, run.n),
      notExists(sql`${unsentOf(runReplies)})`),
    );
  const removeCalls = database.command((p: Bound<Stretch>) =>
    db.delete(toolCall).where(inArray(toolCall.run, db.select({ n: run.n }).from(run).where(goes(p)))),
  );
  return {
    table: run,
    number: run.n,
    time: run.startedAt,
    goes,
    before: [removeCalls],
  };
}

function outboxSweep(database: Database): Sweep {
  const goes: Sweep["goes"] = (p) =>
    and(
      inStretch(outbox.seq, p),
      lt(outbox.updatedAt, p("limit")),
      sql`NOT (${isUnsent})`,
      isNotNewest(outbox, outbox.seq),
    );
  return {
    table: outbox,
    number: outbox.seq,
    time: outbox.createdAt,
    goes,
    before: [removeBodies(database, outbox, goes)],
  };
}

/** Sweeps messages outside the history of every session, and their contexts. */
function messageSweep({ db, command }: Database): Sweep {
  const goes: Sweep["goes"] = (p) =>
    and(
      inStretch(entry.id, p),
      lt(entry.at, p("limit")),
      inArray(entry.kind, ["message", "summary"]),
      isNotNewest(entry, entry.id),
      notExists(
        db
          .select({ key: session.key })
          .from(session)
          .where(
            and(
              eq(session.key, entry.sessionKey),
              eq(session.generation, entry.generation),
              lt(session.floorSeq, entry.seq),
            ),
          ),
      ),
    );
  const goneMessages = (p: Bound<Stretch>) =>
    db.select({ key: entry.sessionKey, seq: entry.seq }).from(entry).where(goes(p));
  const removeContexts = command((p: Bound<Stretch>) =>
    db
      .delete(messageContext)
      .where(sql`(${messageContext.sessionKey}, ${messageContext.seq}) IN ${goneMessages(p)}`),
  );
  const removeTold = command((p: Bound<Stretch>) =>
    db.delete(toldHistory).where(sql`(${toldHistory.sessionKey}, ${toldHistory.seq}) IN ${goneMessages(p)}`),
  );
  return {
    table: entry,
    number: entry.id,
    time: entry.at,
    goes,
    before: [removeContexts, removeTold],
  };
}

/** Deletes the bodies of rows that are about to be removed. */
function removeBodies(
  { db, command }: Database,
  table: typeof inbox | typeof outbox,
  goes: Sweep["goes"],
): Command<Stretch> {
  return command((p: Bound<Stretch>) =>
    db.delete(entry).where(inArray(entry.id, db.select({ id: table.entry }).from(table).where(goes(p)))),
  );
}
