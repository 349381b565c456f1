import { and, eq, inArray, isNull, like, not, or, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { inboxIdOf } from "./inbox-rows.ts";
import type { RunRows } from "./run-rows.ts";
import { inbox, isGivenUp, type OutboxRecord, outbox } from "./schema/index.ts";
import type { InboxId } from "./types/common.ts";
import type { InboxFinalState } from "./types/inbox.ts";
import { EXPIRED_REASON, isMarked, UNDELIVERED_MARK as MARK } from "./undelivered.ts";

/** Links outbox rows to the messages that they answer, and updates these messages when a delivery ends. */
export interface Answers {
  of(row: OutboxRecord): readonly InboxId[];
  /** Returns the messages whose senders depend on this row to learn the outcome. */
  awaiting(row: OutboxRecord): readonly InboxId[];
  /** Records that the row was not delivered. The messages that {@link awaiting} returns become `unreported`. */
  undelivered(row: OutboxRecord, why: string): void;
  /** Records that a notice about undelivered replies was sent. The `unreported` messages become reported. */
  reported(row: OutboxRecord): void;
  /** Records that an operator retries the reply. The states of its messages are restored. */
  reopened(row: OutboxRecord): void;
  /**
   * Called when a message becomes `replied`. If the store already gave up its reply, the message gets the state for
   * undelivered replies.
   */
  settled(seq: number): void;
}

const REPORTED = ["failed-reported", "expired-reported"] as const satisfies readonly InboxFinalState[];

function prepareStatements(database: Database) {
  const { db } = database;
  const answered = {
    seq: inbox.seq,
    receivedAt: inbox.receivedAt,
    nonce: inbox.nonce,
    run: inbox.run,
    state: inbox.state,
    reason: inbox.reason,
  };
  const ofMark = like(inbox.reason, `${MARK}%`);
  return {
    bySeq: database.query((p: Bound<{ seq: number }>) =>
      db
        .select(answered)
        .from(inbox)
        .where(eq(inbox.seq, p("seq"))),
    ),
    endUndelivered: database.command((p: Bound<{ seq: number; reason: string }>) =>
      db
        .update(inbox)
        .set({ state: "unreported", rule: sql`coalesce(${inbox.rule}, 'undelivered')`, reason: p("reason") })
        .where(and(eq(inbox.seq, p("seq")), eq(inbox.state, "replied"))),
    ),
    // The reply reported that the run failed. Keep the reason of that failure.
    endUnreported: database.command((p: Bound<{ seq: number }>) =>
      db
        .update(inbox)
        .set({ state: "unreported" })
        .where(
          and(
            eq(inbox.seq, p("seq")),
            eq(inbox.state, "failed-reported"),
            or(isNull(inbox.reason), not(ofMark)),
          ),
        ),
    ),
    endReported: database.command((p: Bound<{ seq: number }>) =>
      db
        .update(inbox)
        .set({
          state: sql`case when ${inbox.reason} like ${`${MARK}${EXPIRED_REASON}%`} then 'expired-reported' else 'failed-reported' end`,
        })
        .where(and(eq(inbox.seq, p("seq")), eq(inbox.state, "unreported"))),
    ),
    endReplied: database.command((p: Bound<{ seq: number }>) =>
      db
        .update(inbox)
        .set({ state: "replied", rule: sql`nullif(${inbox.rule}, 'undelivered')`, reason: null })
        .where(and(eq(inbox.seq, p("seq")), inArray(inbox.state, [...REPORTED, "unreported"]), ofMark)),
    ),
    givenUpAnswering: database.query((p: Bound<{ answers: string }>) =>
      db
        .select({ state: outbox.state, error: outbox.error })
        .from(outbox)
        .where(and(isGivenUp, eq(outbox.answers, p("answers")))),
    ),
  };
}

export function createAnswers({ database }: Context, runs: RunRows): Answers {
  const statements = prepareStatements(database);

  /** Returns the messages that a row answers. A notice answers none. */
  function messagesOf(row: OutboxRecord) {
    const { answers = [] } = row;
    if (answers.length > 0)
      return answers.flatMap((seq) => (seq < 0 ? [] : (statements.bySeq.get({ seq }) ?? [])));
    const made = row.run === null ? undefined : runs.record(row.run);
    if (made === undefined) return [];
    // Messages that this run returned to the queue may belong to another run now.
    return runs
      .messagesOf(made)
      .flatMap((seq) => statements.bySeq.get({ seq }) ?? [])
      .filter(({ run: taker }) => taker === row.run);
  }

  return {
    of: (row) =>
      [...messagesOf(row), ...reportedIn(row).flatMap((seq) => statements.bySeq.get({ seq }) ?? [])].map(
        inboxIdOf,
      ),
    awaiting: (row) =>
      messagesOf(row)
        .filter(
          ({ state, reason }) => state === "replied" || (state === "failed-reported" && !isMarked(reason)),
        )
        .map(inboxIdOf),
    undelivered(row, why) {
      for (const { seq } of messagesOf(row)) {
        statements.endUndelivered.run({ seq, reason: MARK + why });
        statements.endUnreported.run({ seq });
      }
    },
    reported(row) {
      for (const seq of reportedIn(row)) statements.endReported.run({ seq });
    },
    settled(seq) {
      for (const { state, error } of statements.givenUpAnswering.all({ answers: JSON.stringify([seq]) }))
        if (state !== "uncertain")
          statements.endUndelivered.run({ seq, reason: MARK + (error ?? "given up") });
    },
    reopened(row) {
      for (const { seq } of messagesOf(row)) {
        statements.endReplied.run({ seq });
        statements.endReported.run({ seq });
      }
    },
  };
}

/** Returns the messages that a notice is about. */
function reportedIn({ answers = [] }: OutboxRecord): readonly number[] {
  return answers.filter((seq) => seq < 0).map((seq) => -seq);
}
