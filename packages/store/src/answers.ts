import { and, eq, inArray, like, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { rowOf } from "./ids.ts";
import { inboxIdOf } from "./inbox-rows.ts";
import type { RunRows } from "./run-rows.ts";
import { inbox, isGivenUp, type OutboxRecord, outbox } from "./schema/index.ts";
import type { InboxId } from "./types/common.ts";
import type { InboxFinalState } from "./types/inbox.ts";

type UndeliveredState = Extract<InboxFinalState, "failed-reported" | "expired-reported">;

/** Links rows of the outbox to the messages that they answer, and updates these messages when a delivery ends. */
export interface Answers {
  of(row: OutboxRecord): readonly InboxId[];
  /** Returns only the messages whose state is `replied`. */
  awaiting(row: OutboxRecord): readonly InboxId[];
  /** Records that the reply was not delivered: `replied` messages get the given final state. */
  undelivered(row: OutboxRecord, state: UndeliveredState, why: string): void;
  /** Records that an operator retries the reply: its messages are `replied` again. */
  reopened(row: OutboxRecord): void;
  /**
   * Called when a message becomes `replied`. If its reply was given up before that, the message gets the state for
   * undelivered replies.
   */
  settled(seq: number): void;
}

/** Prefix of the reason of a message whose reply was not delivered. */
const MARK = "undelivered: ";

function prepareStatements(database: Database) {
  const { db } = database;
  const answered = {
    seq: inbox.seq,
    receivedAt: inbox.receivedAt,
    nonce: inbox.nonce,
    run: inbox.run,
    state: inbox.state,
  };
  return {
    bySeq: database.query((p: Bound<{ seq: number }>) =>
      db.select(answered).from(inbox).where(eq(inbox.seq, p.seq)),
    ),
    endUndelivered: database.command((p: Bound<{ seq: number; state: UndeliveredState; reason: string }>) =>
      db
        .update(inbox)
        .set({ state: p.state, rule: sql`coalesce(${inbox.rule}, 'undelivered')`, reason: p.reason })
        .where(and(eq(inbox.seq, p.seq), eq(inbox.state, "replied"))),
    ),
    endReplied: database.command((p: Bound<{ seq: number }>) =>
      db
        .update(inbox)
        .set({ state: "replied", rule: sql`nullif(${inbox.rule}, 'undelivered')`, reason: null })
        .where(
          and(
            eq(inbox.seq, p.seq),
            inArray(inbox.state, ["failed-reported", "expired-reported"]),
            like(inbox.reason, `${MARK}%`),
          ),
        ),
    ),
    givenUpAnswering: database.query((p: Bound<{ answers: string }>) =>
      db
        .select({ state: outbox.state, error: outbox.error })
        .from(outbox)
        .where(and(isGivenUp, eq(outbox.answers, p.answers))),
    ),
  };
}

export function createAnswers({ database }: Context, runs: RunRows): Answers {
  const statements = prepareStatements(database);

  function messagesOf(row: OutboxRecord) {
    const { answers = [] } = row;
    if (answers.length > 0) return answers.flatMap((seq) => statements.bySeq.get({ seq }) ?? []);
    const made = row.run === null ? undefined : runs.record(row.run);
    if (made === undefined) return [];
    // Messages that this run returned to the queue belong to another run by now.
    return runs
      .messagesOf(made)
      .flatMap((seq) => statements.bySeq.get({ seq }) ?? [])
      .filter(({ run: taker }) => taker === row.run);
  }

  return {
    of: (row) => messagesOf(row).map(inboxIdOf),
    awaiting: (row) =>
      messagesOf(row)
        .filter(({ state }) => state === "replied")
        .map(inboxIdOf),
    undelivered(row, state, why) {
      for (const { seq } of messagesOf(row))
        statements.endUndelivered.run({ seq, state, reason: MARK + why });
    },
    settled(seq) {
      for (const { state, error } of statements.givenUpAnswering.all({ answers: JSON.stringify([seq]) })) {
        if (state === "uncertain") continue;
        const end = state === "dead" ? "failed-reported" : "expired-reported";
        statements.endUndelivered.run({ seq, state: end, reason: MARK + (error ?? "given up") });
      }
    },
    reopened(row) {
      for (const { seq } of messagesOf(row)) statements.endReplied.run({ seq });
    },
  };
}

/** Returns the row numbers of messages, as the column `answers` stores them. */
export function answeredRows(ids: readonly InboxId[] | undefined): readonly number[] {
  return (ids ?? []).flatMap((id) => rowOf(id) ?? []);
}
