import { and, eq, inArray, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type Bound, type Command, type Database, snakeCase } from "./database.ts";
import { type CheckedUsage, eachFigure } from "./figures.ts";
import type { Head } from "./messages.ts";
import { activeRun, groupHistory, inbox, run, session, usageDay, usageModelDay } from "./schema/index.ts";
import type { RunOutcome } from "./types/runs.ts";

/** Prepared statements that write runs. */
export type RunStatements = ReturnType<typeof prepareRunStatements>;

export function prepareRunStatements(database: Database) {
  const { db } = database;
  return {
    insert: database.insert(run),
    setInbox: database.command((p: Bound<{ n: number; inbox: readonly number[] }>) =>
      db
        .update(run)
        .set({ inbox: p("inbox") })
        .where(eq(run.n, p("n"))),
    ),
    /** Assigns a message to a run. */
    join: database.command((p: Bound<{ seq: number; run: number }>) =>
      db
        .update(inbox)
        .set({ state: "running", run: p("run") })
        .where(eq(inbox.seq, p("seq"))),
    ),
    /** Returns a message to its queue. */
    giveBack: database.command((p: Bound<{ seq: number }>) =>
      db
        .update(inbox)
        .set({ state: "queued", run: null })
        .where(eq(inbox.seq, p("seq"))),
    ),
    end: endOfRun(database),
    closeSession: endInSession(database),
    addUsage: addUsageOfDay(database),
    addModelUsage: addUsageOfModel(database),
    forgetTold: database.command((p: Bound<{ conversation: string; entryId: string }>) =>
      db
        .delete(groupHistory)
        .where(and(eq(groupHistory.conversation, p("conversation")), eq(groupHistory.entryId, p("entryId")))),
    ),
    ...leaseStatements(database),
  };
}

/** Creates the statements for a run's lease and its number of attempts. */
function leaseStatements(database: Database) {
  const { db } = database;
  return {
    takeOver: database.command(
      (p: Bound<{ n: number; leaseName: string; leaseEpoch: number; more: number }>) =>
        db
          .update(run)
          .set({
            leaseName: p("leaseName"),
            leaseEpoch: p("leaseEpoch"),
            attempts: sql`${run.attempts} + ${p("more")}`,
          })
          .where(eq(run.n, p("n"))),
    ),
    rest: database.command((p: Bound<{ leaseName: string; leaseEpoch: number }>) =>
      db
        .update(run)
        .set({ leaseName: "", leaseEpoch: 0, attempts: sql`${run.attempts} - 1` })
        .where(
          and(
            inArray(run.n, db.select({ n: activeRun.run }).from(activeRun)),
            eq(run.leaseName, p("leaseName")),
            eq(run.leaseEpoch, p("leaseEpoch")),
          ),
        ),
    ),
    addAttempts: database.command((p: Bound<{ n: number; more: number }>) =>
      db
        .update(run)
        .set({ attempts: sql`${run.attempts} + ${p("more")}` })
        .where(eq(run.n, p("n"))),
    ),
  };
}

type EndOfRun = CheckedUsage["reported"] & {
  n: number;
  state: RunOutcome;
  error: string | null;
  lastEntry: number | null;
  outbox: readonly number[];
  at: number;
};

function endOfRun(database: Database): Command<EndOfRun> {
  const { db } = database;
  return database.command((p: Bound<EndOfRun>) =>
    db
      .update(run)
      .set({
        state: p("state"),
        error: p("error"),
        lastEntry: p("lastEntry"),
        outbox: p("outbox"),
        finishedAt: p("at"),
        ...eachFigure((figure) => p(figure)),
      })
      .where(eq(run.n, p("n"))),
  );
}

const added = (column: SQLiteColumn) => sql`${column} + excluded.${sql.identifier(snakeCase(column.name))}`;

type UsageOfDay = typeof usageDay.$inferInsert;

/** Adds a run's usage to the sums of its day. */
function addUsageOfDay(database: Database): Command<UsageOfDay> {
  return database.command((p: Bound<UsageOfDay>) =>
    database.db
      .insert(usageDay)
      .values({
        day: p("day"),
        agentId: p("agentId"),
        sessionKey: p("sessionKey"),
        sender: p("sender"),
        runs: p("runs"),
        ...eachFigure((figure) => p(figure)),
      })
      .onConflictDoUpdate({
        target: [usageDay.day, usageDay.agentId, usageDay.sessionKey, usageDay.sender],
        set: { runs: added(usageDay.runs), ...eachFigure((figure) => added(usageDay[figure])) },
      }),
  );
}

type UsageOfModel = typeof usageModelDay.$inferInsert;

/** Adds a run's usage of a model to the sums of its day. */
function addUsageOfModel(database: Database): Command<UsageOfModel> {
  return database.command((p: Bound<UsageOfModel>) =>
    database.db
      .insert(usageModelDay)
      .values({
        day: p("day"),
        agentId: p("agentId"),
        sessionKey: p("sessionKey"),
        sender: p("sender"),
        model: p("model"),
        runs: p("runs"),
        ...eachFigure((figure) => p(figure)),
      })
      .onConflictDoUpdate({
        target: [
          usageModelDay.day,
          usageModelDay.agentId,
          usageModelDay.sessionKey,
          usageModelDay.sender,
          usageModelDay.model,
        ],
        set: { runs: added(usageModelDay.runs), ...eachFigure((figure) => added(usageModelDay[figure])) },
      }),
  );
}

type EndInSession = CheckedUsage["counted"] & Head & { key: string; run: number; at: number };

/** Ends a run in its session: counts the run and adds its usage. */
function endInSession(database: Database): Command<EndInSession> {
  const { db } = database;
  return database.command((p: Bound<EndInSession>) =>
    db
      .update(session)
      .set({
        updatedAt: p("at"),
        lastEntry: p("lastEntry"),
        lastSeq: p("lastSeq"),
        messageCount: p("messageCount"),
        lastRun: p("run"),
        runs: sql`${session.runs} + 1`,
        ...eachFigure((figure) => sql`${session[figure]} + ${p(figure)}`),
      })
      .where(eq(session.key, p("key"))),
  );
}
