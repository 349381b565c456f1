import { decode, decodeIntact, idOf } from "@signalbox/store/backend";
import type { Bodies, RunId, SessionMessage } from "@signalbox/store/types";
import { and, desc, eq, gt, lt, type SQL } from "drizzle-orm";
import { type MessageRecord, message, messageContext, run, toldHistory } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** The end of a session's messages. */
export interface Head {
  readonly lastSeq: number;
  /** Number of messages in the current history. */
  readonly messageCount: number;
}

/** Columns that all messages of one append share. */
export interface Place {
  readonly sessionKey: string;
  readonly generation: number;
  readonly run: number | null;
  readonly at: number;
}

interface Joined {
  readonly row: MessageRecord;
  readonly run: { readonly n: number; readonly startedAt: number; readonly nonce: number } | null;
}

function withBody<T extends Bodies>({ row, run: made }: Joined, body: T["message"]): SessionMessage<T> {
  return {
    seq: row.seq,
    generation: row.generation,
    message: body,
    runId: made === null ? undefined : idOf<RunId>(made.startedAt, made.nonce, made.n),
    at: row.at,
    compaction: row.kind === "summary",
  };
}

/** Selects messages, newest first. */
const select = ({ db }: Transaction, where: SQL | undefined) =>
  db
    .select({ row: message, run: { n: run.n, startedAt: run.startedAt, nonce: run.nonce } })
    .from(message)
    .leftJoin(run, eq(run.n, message.run))
    .where(where)
    .orderBy(desc(message.seq))
    .$dynamic();

/** Appends encoded bodies and returns the new head. */
export function appendMessages(
  { db, send }: Transaction,
  { lastSeq, messageCount }: Head,
  to: Place,
  bodies: readonly string[],
): Head {
  const rows = bodies.map((body, index) => ({
    ...to,
    kind: "message" as const,
    seq: lastSeq + index + 1,
    body,
  }));
  if (rows.length > 0) send(db.insert(message).values(rows));
  return { lastSeq: lastSeq + rows.length, messageCount: messageCount + rows.length };
}

/** Appends a summary and returns its number. */
export function appendSummary({ db, send }: Transaction, { lastSeq }: Head, to: Place, body: string): number {
  const seq = lastSeq + 1;
  send(db.insert(message).values({ ...to, kind: "summary", seq, body }));
  return seq;
}

/** Returns the newest messages of a range, newest first, including summaries. The bounds are exclusive. */
export async function readMessages<T extends Bodies>(
  tx: Transaction,
  key: string,
  { after, before, limit }: { readonly after: number; readonly before: number; readonly limit: number },
): Promise<SessionMessage<T>[]> {
  const isInRange = and(eq(message.sessionKey, key), gt(message.seq, after), lt(message.seq, before));
  const rows = await select(tx, isInRange).limit(limit);
  return rows.map(toMessage<T>);
}

/** Returns the newest messages after `floor`, oldest first, without summaries. */
export async function readHistory<T extends Bodies>(
  tx: Transaction,
  key: string,
  floor: number,
  limit: number,
): Promise<SessionMessage<T>[]> {
  const isInHistory = and(eq(message.sessionKey, key), gt(message.seq, floor), eq(message.kind, "message"));
  const rows = await select(tx, isInHistory).limit(limit);
  return rows.map(toMessage<T>).reverse();
}

export async function readMessage<T extends Bodies>(
  tx: Transaction,
  key: string,
  seq: number,
): Promise<SessionMessage<T> | undefined> {
  const rows = await select(tx, and(eq(message.sessionKey, key), eq(message.seq, seq)));
  return rows.map(toMessage<T>)[0];
}

/** Returns the messages of a run, oldest first. */
export async function readMessagesOfRun<T extends Bodies>(
  tx: Transaction,
  n: number,
): Promise<SessionMessage<T>[]> {
  const rows = await select(tx, eq(message.run, n));
  return rows
    .flatMap((joined) => {
      const body = decodeIntact<T["message"]>(joined.row.body);
      return body === undefined ? [] : [withBody<T>(joined, body)];
    })
    .reverse();
}

/** Removes all messages of a session and their contexts. */
export function removeMessages({ db, send }: Transaction, key: string): void {
  send(db.delete(messageContext).where(eq(messageContext.sessionKey, key)));
  send(db.delete(toldHistory).where(eq(toldHistory.sessionKey, key)));
  send(db.delete(message).where(eq(message.sessionKey, key)));
}

function toMessage<T extends Bodies>(joined: Joined): SessionMessage<T> {
  const { sessionKey, seq, body } = joined.row;
  return withBody<T>(joined, decode<T["message"]>(body, "message", `${sessionKey}/${seq}`));
}
