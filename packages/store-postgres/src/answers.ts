import { EXPIRED_REASON, isMarked, UNDELIVERED_MARK } from "@signalbox/store/backend";
import type { InboxFinalState, InboxId } from "@signalbox/store/types";
import { and, asc, eq, inArray, isNull, like, ne, not, or, type SQL, sql } from "drizzle-orm";
import { inboxIdOf } from "./inbox-rows.ts";
import { type InboxRecord, inbox, isGivenUp, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

const REPORTED = ["failed-reported", "expired-reported"] as const satisfies readonly InboxFinalState[];

const hasMark = like(inbox.reason, `${UNDELIVERED_MARK}%`);

/** A condition: the row answers the message. A notice answers none. */
function isAnsweredBy({ answers, run }: OutboxRecord): SQL | undefined {
  if (answers.length > 0)
    return inArray(
      inbox.seq,
      answers.filter((seq) => seq > 0),
    );
  // Messages that the run returned to the queue may belong to another run now.
  return run === null ? sql`false` : eq(inbox.run, run);
}

/** A condition: the row, a notice, is about the message. */
const isReportedIn = ({ answers }: OutboxRecord): SQL | undefined =>
  inArray(
    inbox.seq,
    answers.filter((seq) => seq < 0).map((seq) => -seq),
  );

/** Returns the messages that a row answers or is about. */
export async function readAnswered({ db }: Transaction, row: OutboxRecord): Promise<readonly InboxId[]> {
  const rows = await db
    .select()
    .from(inbox)
    .where(or(isAnsweredBy(row), isReportedIn(row)))
    .orderBy(asc(inbox.seq));
  return rows.map(inboxIdOf);
}

/** Returns the messages whose senders depend on this row to learn the outcome. */
export async function readAwaiting({ db }: Transaction, row: OutboxRecord): Promise<readonly InboxId[]> {
  const rows = await db.select().from(inbox).where(isAnsweredBy(row)).orderBy(asc(inbox.seq));
  return rows.filter(isAwaiting).map(inboxIdOf);
}

/**
 * Like {@link readAwaiting}, and locks the messages. A message that is ending at the same time gets the state of its
 * reply in one transaction or in the other.
 */
export async function lockAwaiting({ db }: Transaction, row: OutboxRecord): Promise<readonly InboxId[]> {
  const rows = await db.select().from(inbox).where(isAnsweredBy(row)).orderBy(asc(inbox.seq)).for("update");
  return rows.filter(isAwaiting).map(inboxIdOf);
}

const isAwaiting = ({ state, reason }: InboxRecord): boolean =>
  state === "replied" || (state === "failed-reported" && !isMarked(reason));

/** Records that the row was not delivered. The messages that {@link lockAwaiting} returns become `unreported`. */
export function markUndelivered({ db, send }: Transaction, row: OutboxRecord, why: string): void {
  const isAnswered = isAnsweredBy(row);
  const wasReplied = and(isAnswered, eq(inbox.state, "replied"));
  const wasFailed = and(
    isAnswered,
    eq(inbox.state, "failed-reported"),
    or(isNull(inbox.reason), not(hasMark)),
  );
  // The reply may have reported that the run failed. Keep the reason of that failure.
  send(db.update(inbox).set({ state: "unreported" }).where(wasFailed));
  const rule = sql`coalesce(${inbox.rule}, 'undelivered')`;
  send(
    db
      .update(inbox)
      .set({ state: "unreported", rule, reason: UNDELIVERED_MARK + why })
      .where(wasReplied),
  );
}

/** Records that a notice about undelivered replies was sent. The `unreported` messages become reported. */
export function markReported({ db, send }: Transaction, row: OutboxRecord): void {
  if (row.answers.every((seq) => seq > 0)) return;
  send(
    db
      .update(inbox)
      .set({ state: reportedState() })
      .where(and(isReportedIn(row), isUnreported())),
  );
}

/** Records that an operator retries the reply. The states of its messages are restored. */
export function markReopened({ db, send }: Transaction, row: OutboxRecord): void {
  const isAnswered = isAnsweredBy(row);
  const rule = sql`nullif(${inbox.rule}, 'undelivered')`;
  send(
    db
      .update(inbox)
      .set({ state: "replied", rule, reason: null })
      .where(and(isAnswered, inArray(inbox.state, [...REPORTED, "unreported"]), hasMark)),
  );
  send(db.update(inbox).set({ state: reportedState() }).where(and(isAnswered, isUnreported())));
}

const isUnreported = (): SQL => eq(inbox.state, "unreported");

const reportedState = (): SQL => sql`CASE WHEN ${like(inbox.reason, `${UNDELIVERED_MARK}${EXPIRED_REASON}%`)}
  THEN 'expired-reported' ELSE 'failed-reported' END`;

/** The columns of a message that ends. */
type Ended = Pick<InboxRecord, "state" | "rule" | "reason" | "settledAt">;

/**
 * Looks for a reply to the message that was given up before the message ended. Returns the function that gives the
 * message the state for undelivered replies.
 */
export async function findGivenUp(
  { db }: Transaction,
  seq: number,
): Promise<((ended: Ended) => Ended) | undefined> {
  const [givenUp] = await db
    .select({ error: outbox.error })
    .from(outbox)
    .where(and(isGivenUp, ne(outbox.state, "uncertain"), eq(outbox.answers, [seq])))
    .limit(1);
  if (givenUp === undefined) return undefined;
  const reason = UNDELIVERED_MARK + (givenUp.error ?? "given up");
  return (ended) => ({ ...ended, state: "unreported", rule: ended.rule ?? "undelivered", reason });
}
