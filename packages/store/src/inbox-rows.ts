import { and, asc, desc, eq, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { idOf, rowOf } from "./ids.ts";
import { decode } from "./json.ts";
import { entry, type InboxRecord, inbox, run } from "./schema/index.ts";
import type { Bodies, InboxId, LeaseToken, RunId } from "./types/common.ts";
import type { InboxDetail, InboxFinalState, InboxRow, InboxState } from "./types/inbox.ts";

/** What stands in the entry of an inbound event. */
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

/** Rows that a query asked for, and those of them whose body is gone: the file was damaged. */
export interface InboxRead<T extends Bodies> {
  readonly rows: readonly InboxRow<T>[];
  readonly damaged: readonly InboxRecord[];
}

/** What several parts need of the inbox. */
export interface InboxRows<T extends Bodies> {
  record(seq: number): InboxRecord | undefined;
  byId(id: string): InboxRecord | undefined;
  /** What came in. @throws StoreError `corrupt` where it is gone */
  event(row: InboxRecord): InboundBody<T>;
  isDamaged(row: InboxRecord): boolean;
  full(seq: number): InboxRow<T> | undefined;
  /** Those of them that are kept, by their numbers. */
  some(seqs: readonly number[]): ReadonlyMap<number, InboxRow<T>>;
  queued(sessionKey: string): InboxRead<T>;
  /** Whose messages wait; a lease without a name is nobody's. */
  holders(): LeaseToken[];
  /** Gives the waiting messages of one holder to another, in the order in which they came. */
  handOver(from: LeaseToken, to: LeaseToken): InboxRead<T>;
  list(filter: Filter): readonly InboxRow<T>[];
  end(end: End): void;
}

const DEFAULT_LIMIT = 50;

/** Why a message whose body is gone ended. */
export const damage = { rule: "damaged", reason: "Its content is missing in the database." } as const;

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
  return { ...(rule === null ? {} : { rule }), ...(reason === null ? {} : { reason }) };
}

export function createInboxRows<T extends Bodies>(
  { database, now }: Context,
  entries: Entries,
): InboxRows<T> {
  const { db } = database;
  /** Rows with all that belongs to them, in one query. */
  const withBody = () =>
    db
      .select({ row: inbox, body: entry.body, run: { n: run.n, startedAt: run.startedAt, nonce: run.nonce } })
      .from(inbox)
      .leftJoin(entry, eq(entry.id, inbox.entry))
      .leftJoin(run, eq(run.n, inbox.run))
      .$dynamic();
  type Joined = ReturnType<ReturnType<typeof withBody>["all"]>[number];

  const bySeq = database.query((p: Bound<{ seq: number }>) =>
    db.select().from(inbox).where(eq(inbox.seq, p.seq)),
  );
  const fullBySeq = database.query((p: Bound<{ seq: number }>) => withBody().where(eq(inbox.seq, p.seq)));
  const bySeqs = database.query((p: Bound<{ seqs: string }>) =>
    withBody().where(inArray(inbox.seq, sql`(SELECT value FROM json_each(${p.seqs}))`)),
  );
  const queued = database.query((p: Bound<{ sessionKey: string }>) =>
    withBody()
      .where(and(isNull(inbox.settledAt), eq(inbox.sessionKey, p.sessionKey), eq(inbox.state, "queued")))
      .orderBy(asc(inbox.seq)),
  );
  const waits = and(isNull(inbox.settledAt), inArray(inbox.state, ["accepted", "queued"]));
  const holders = database.query(() =>
    db.selectDistinct({ name: inbox.leaseName, epoch: inbox.leaseEpoch }).from(inbox).where(waits),
  );
  const isHeld = (p: Bound<LeaseToken>) =>
    and(waits, eq(inbox.leaseName, p.name), eq(inbox.leaseEpoch, p.epoch));
  const heldBy = database.query((p: Bound<LeaseToken>) =>
    withBody().where(isHeld(p)).orderBy(asc(inbox.seq)),
  );
  const handOver = database.command((p: Bound<LeaseToken & { toName: string; toEpoch: number }>) =>
    db.update(inbox).set({ leaseName: p.toName, leaseEpoch: p.toEpoch }).where(isHeld(p)),
  );
  const setEnd = database.command((p: Bound<End & { settledAt: number }>) =>
    db
      .update(inbox)
      .set({ state: p.state, rule: p.rule, reason: p.reason, settledAt: p.settledAt })
      .where(eq(inbox.seq, p.seq)),
  );

  function toRow({ row, run: answering }: Joined, body: string): InboxRow<T> {
    const detail = toDetail(row);
    return {
      id: inboxIdOf(row),
      seq: row.seq,
      ...decode<InboundBody<T>>(body),
      receivedAt: row.receivedAt,
      state: row.state,
      ...(detail === undefined ? {} : { detail }),
      ...(row.sessionKey === null || row.agentId === null
        ? {}
        : { route: { agentId: row.agentId, sessionKey: row.sessionKey } }),
      ...(answering === null
        ? {}
        : { runId: idOf<RunId>(answering.startedAt, answering.nonce, answering.n) }),
      revision: row.revision,
      ...(row.settledAt === null ? {} : { settledAt: row.settledAt }),
    };
  }

  function read(joined: readonly Joined[]): InboxRead<T> {
    return {
      rows: joined.flatMap((row) => (row.body === null ? [] : [toRow(row, row.body)])),
      damaged: joined.flatMap(({ row, body }) => (body === null ? [row] : [])),
    };
  }

  return {
    record: (seq) => bySeq.get({ seq }),
    byId(id) {
      const seq = rowOf(id);
      const row = seq === undefined ? undefined : bySeq.get({ seq });
      return row !== undefined && inboxIdOf(row) === id ? row : undefined;
    },
    event(row) {
      const body = entries.get(row.entry)?.body;
      if (body === undefined)
        throw new StoreError("corrupt", `The body of inbox message ${inboxIdOf(row)} is missing.`);
      return decode<InboundBody<T>>(body);
    },
    isDamaged: (row) => entries.get(row.entry) === undefined,
    full(seq) {
      const joined = fullBySeq.get({ seq });
      return joined === undefined || joined.body === null ? undefined : toRow(joined, joined.body);
    },
    some: (seqs) =>
      new Map(read(bySeqs.all({ seqs: JSON.stringify(seqs) })).rows.map((row) => [row.seq, row])),
    queued: (sessionKey) => read(queued.all({ sessionKey })),
    holders: () => holders.all(),
    handOver({ name, epoch }, to) {
      const given = read(heldBy.all({ name, epoch }));
      handOver.run({ name, epoch, toName: to.name, toEpoch: to.epoch });
      return given;
    },
    list({ state, sessionKey, before, limit }) {
      const conditions: (SQL | undefined)[] = [
        lt(inbox.seq, (before === undefined ? undefined : rowOf(before)) ?? Number.MAX_SAFE_INTEGER),
        state === undefined ? undefined : eq(inbox.state, state),
        sessionKey === undefined ? undefined : eq(inbox.sessionKey, sessionKey),
      ];
      return read(
        withBody()
          .where(and(...conditions))
          .orderBy(desc(inbox.seq))
          .limit(limit ?? DEFAULT_LIMIT)
          .all(),
      ).rows;
    },
    end(end) {
      setEnd.run({ ...end, settledAt: now() });
    },
  };
}
