import { and, asc, desc, eq, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { idOf, rowOf, rowOrEnd } from "./ids.ts";
import { decodeIntact, encode } from "./json.ts";
import { runIdOf } from "./run-rows.ts";
import { entry, type InboxRecord, inbox, type RunRecord, run } from "./schema/index.ts";
import type { Bodies, InboxId, LeaseToken } from "./types/common.ts";
import type { InboxDetail, InboxFinalState, InboxRoute, InboxRow, InboxState } from "./types/inbox.ts";

/** Body of the entry for an inbound event. */
export interface InboundBody<T extends Bodies = Bodies> {
  readonly channel: string;
  readonly account: string;
  readonly eventId: string;
  readonly messageId?: string;
  readonly kind: string;
  readonly conversationId: string;
  readonly senderId: string;
  readonly payload: T["inbound"];
}

interface Filter {
  readonly state?: InboxState;
  readonly sessionKey?: string;
  readonly before?: InboxId;
  readonly limit?: number;
}

interface End {
  readonly seq: number;
  readonly state: InboxFinalState;
  readonly rule: string | null;
  readonly reason: string | null;
}

/** A row with its body and run. If the body is missing or unreadable, the file is damaged. */
interface Joined {
  readonly row: InboxRecord;
  readonly body: string | null;
  readonly run: Pick<RunRecord, "n" | "nonce" | "startedAt"> | null;
}

/** The readable rows of a query, and the rows with damaged bodies. */
export interface InboxRead<T extends Bodies> {
  readonly rows: readonly InboxRow<T>[];
  readonly damaged: readonly InboxRecord[];
}

/** Inbox queries that several modules of the store share. */
export interface InboxRows<T extends Bodies> {
  record(seq: number): InboxRecord | undefined;
  byId(id: string): InboxRecord | undefined;
  /** Returns the body of a row, or undefined if it is damaged. */
  event(row: InboxRecord): InboundBody<T> | undefined;
  /**
   * Replaces the payload of a row. Pass a {@link copied} payload.
   *
   * @throws StoreError `corrupt` if the current body is damaged
   */
  setPayload(row: InboxRecord, payload: T["inbound"]): void;
  full(seq: number): InboxRow<T> | undefined;
  /** Returns those of the given rows that are stored, by row number. */
  some(seqs: readonly number[]): ReadonlyMap<number, InboxRow<T>>;
  /** Returns the numbers of unfinished rows. */
  unfinished(): readonly number[];
  /** Returns the leases of waiting messages. A message without an owner has a lease with an empty name. */
  holders(): LeaseToken[];
  /**
   * Moves those of a holder's waiting messages that `mayClaim` accepts to another holder, and returns them in the order
   * of arrival.
   */
  handOver(
    from: LeaseToken,
    to: LeaseToken,
    mayClaim: (route: InboxRoute | undefined) => boolean,
  ): InboxRead<T>;
  /** Removes the lease from a waiting message. Does nothing if the message has another lease. */
  release(id: InboxId, from: LeaseToken): void;
  list(filter: Filter): readonly InboxRow<T>[];
  end(end: End): void;
}

const DEFAULT_LIMIT = 50;

/** Rule and reason of a message that ended because its body is damaged. */
export const damage = {
  rule: "damaged",
  reason: "Its content is missing or damaged in the database.",
} as const;

export function inboxIdOf({
  receivedAt,
  nonce,
  seq,
}: Pick<InboxRecord, "receivedAt" | "nonce" | "seq">): InboxId {
  return idOf<InboxId>(receivedAt, nonce, seq);
}

export function isFinal(state: InboxState): state is InboxFinalState {
  return state !== "accepted" && state !== "queued" && state !== "running";
}

function toDetail({ rule, reason }: InboxRecord): InboxDetail | undefined {
  if (rule === null && reason === null) return undefined;
  return { rule: rule ?? undefined, reason: reason ?? undefined };
}

function toRoute({ sessionKey, agentId }: InboxRecord): InboxRoute | undefined {
  return sessionKey === null || agentId === null ? undefined : { sessionKey, agentId };
}

function toRow<T extends Bodies>({ row, run: answering, body }: Joined): InboxRow<T> | undefined {
  const event = decodeIntact<InboundBody<T>>(body);
  if (event === undefined) return undefined;
  const detail = toDetail(row);
  const route = toRoute(row);
  return {
    id: inboxIdOf(row),
    seq: row.seq,
    ...event,
    receivedAt: row.receivedAt,
    state: row.state,
    ...(detail === undefined ? {} : { detail }),
    ...(route === undefined ? {} : { route }),
    ...(answering === null ? {} : { runId: runIdOf(answering) }),
    revision: row.revision,
    ...(row.settledAt === null ? {} : { settledAt: row.settledAt }),
  };
}

function read<T extends Bodies>(joined: readonly Joined[]): InboxRead<T> {
  const rows = joined.map((each) => toRow<T>(each));
  return {
    rows: rows.filter((row) => row !== undefined),
    damaged: joined.filter((_, index) => rows[index] === undefined).map(({ row }) => row),
  };
}

function prepareStatements(database: Database) {
  const { db } = database;
  /** Selects rows with their bodies and runs. */
  const withBody = () =>
    db
      .select({ row: inbox, body: entry.body, run: { n: run.n, startedAt: run.startedAt, nonce: run.nonce } })
      .from(inbox)
      .leftJoin(entry, eq(entry.id, inbox.entry))
      .leftJoin(run, eq(run.n, inbox.run))
      .$dynamic();
  const waits = and(isNull(inbox.settledAt), inArray(inbox.state, ["accepted", "queued"]));
  const isHeld = (p: Bound<LeaseToken>) =>
    and(waits, eq(inbox.leaseName, p("name")), eq(inbox.leaseEpoch, p("epoch")));

  return {
    withBody,
    bySeq: database.query((p: Bound<{ seq: number }>) =>
      db
        .select()
        .from(inbox)
        .where(eq(inbox.seq, p("seq"))),
    ),
    fullBySeq: database.query((p: Bound<{ seq: number }>) => withBody().where(eq(inbox.seq, p("seq")))),
    bySeqs: database.query((p: Bound<{ seqs: string }>) =>
      withBody().where(inArray(inbox.seq, sql`(SELECT value FROM json_each(${p("seqs")}))`)),
    ),
    unfinished: database.query(() =>
      db.select({ seq: inbox.seq }).from(inbox).where(isNull(inbox.settledAt)),
    ),
    holders: database.query(() =>
      db.selectDistinct({ name: inbox.leaseName, epoch: inbox.leaseEpoch }).from(inbox).where(waits),
    ),
    heldBy: database.query((p: Bound<LeaseToken>) => withBody().where(isHeld(p)).orderBy(asc(inbox.seq))),
    handOver: database.command((p: Bound<LeaseToken & { seqs: string; toName: string; toEpoch: number }>) =>
      db
        .update(inbox)
        .set({ leaseName: p("toName"), leaseEpoch: p("toEpoch") })
        .where(and(inArray(inbox.seq, sql`(SELECT value FROM json_each(${p("seqs")}))`), isHeld(p))),
    ),
    setEnd: database.command((p: Bound<End & { settledAt: number }>) =>
      db
        .update(inbox)
        .set({ state: p("state"), rule: p("rule"), reason: p("reason"), settledAt: p("settledAt") })
        .where(eq(inbox.seq, p("seq"))),
    ),
  };
}

export function createInboxRows<T extends Bodies>(
  { database, now }: Context,
  entries: Entries,
): InboxRows<T> {
  const statements = prepareStatements(database);

  function byId(id: string): InboxRecord | undefined {
    const seq = rowOf(id);
    const row = seq === undefined ? undefined : statements.bySeq.get({ seq });
    return row !== undefined && inboxIdOf(row) === id ? row : undefined;
  }

  const event = (row: InboxRecord) => decodeIntact<InboundBody<T>>(entries.get(row.entry)?.body);

  return {
    record: (seq) => statements.bySeq.get({ seq }),
    byId,
    event,
    setPayload(row, payload) {
      const before = event(row);
      if (before === undefined)
        throw new StoreError("corrupt", `The body of inbox message ${inboxIdOf(row)} is damaged.`);
      entries.setBody(row.entry, encode({ ...before, payload }, "A changed message"));
    },
    full(seq) {
      const joined = statements.fullBySeq.get({ seq });
      return joined && toRow(joined);
    },
    some: (seqs) => {
      const { rows } = read<T>(statements.bySeqs.all({ seqs: JSON.stringify(seqs) }));
      return new Map(rows.map((row) => [row.seq, row]));
    },
    unfinished: () => statements.unfinished.all().map(({ seq }) => seq),
    holders: () => statements.holders.all(),
    handOver({ name, epoch }, to, mayClaim) {
      const claimed = statements.heldBy.all({ name, epoch }).filter(({ row }) => mayClaim(toRoute(row)));
      if (claimed.length === 0) return { rows: [], damaged: [] };
      const seqs = JSON.stringify(claimed.map(({ row }) => row.seq));
      statements.handOver.run({ name, epoch, seqs, toName: to.name, toEpoch: to.epoch });
      return read<T>(claimed);
    },
    release(id, { name, epoch }) {
      const row = byId(id);
      if (row === undefined) return;
      const seqs = JSON.stringify([row.seq]);
      statements.handOver.run({ name, epoch, seqs, toName: "", toEpoch: 0 });
    },
    list: (filter) =>
      read<T>(
        statements
          .withBody()
          .where(meets(filter))
          .orderBy(desc(placeFor(filter)))
          .limit(filter.limit ?? DEFAULT_LIMIT)
          .all(),
      ).rows,
    end(end) {
      statements.setEnd.run({ ...end, settledAt: now() });
    },
  };
}

function meets(filter: Filter): SQL | undefined {
  const { state, sessionKey, before } = filter;
  return and(
    lt(placeFor(filter), rowOrEnd(before)),
    state === undefined ? undefined : eq(inbox.state, state),
    isOpen(state) ? isNull(inbox.settledAt) : undefined,
    sessionKey === undefined ? undefined : eq(inbox.sessionKey, sessionKey),
  );
}

/**
 * There are few unfinished rows, so SQLite should use their partial index. Without the unary plus, it would scan all
 * rows, because these are already in the right order.
 */
function placeFor({ state }: Filter): SQL {
  return isOpen(state) ? sql`+${inbox.seq}` : sql`${inbox.seq}`;
}

const isOpen = (state: InboxState | undefined): boolean => state !== undefined && !isFinal(state);
