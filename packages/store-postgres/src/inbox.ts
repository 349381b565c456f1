import { dedupeKey, encode, ROW_FORMAT, rowOf } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type { Bodies, InboxId, InboxRoute, InboxRow, InboxStore, LeaseToken } from "@signalbox/store/types";
import { and, desc, eq, inArray, isNull, lte, notInArray, sql } from "drizzle-orm";
import { findGivenUp } from "./answers.ts";
import type { Context } from "./context.ts";
import { createAccept } from "./inbox-accept.ts";
import { createInboxRevisions } from "./inbox-revisions.ts";
import {
  isFinal,
  isWaiting,
  meetsFilter,
  mustLockMessage,
  selectInbox,
  toInboxRows,
  updateMessage,
} from "./inbox-rows.ts";
import type { Fence } from "./leases.ts";
import { dedupe, type InboxRecord, inbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

const DEFAULT_LIMIT = 50;

export function createInboxStore<T extends Bodies>(
  context: Context,
  fence: Fence,
  limit: number,
): InboxStore<T> {
  return {
    ...createAccept<T>(context, limit),
    ...createTransitions<T>(context),
    ...createInboxRevisions<T>(context),
    ...createReads<T>(context),
    claimDue: (lease, mayClaim) => claimDue<T>(context, fence, lease, mayClaim),
    release: (ids, lease) => release(context, ids, lease),
  };
}

/** Creates the methods that change the state of accepted messages. */
function createTransitions<T extends Bodies>({ database }: Context): Pick<InboxStore<T>, "route" | "settle"> {
  return {
    async route(id, { sessionKey, agentId }, payload) {
      const text = payload === undefined ? undefined : encode(payload, "The payload of a changed message");
      return database.write(async (tx) => {
        const { seq, state } = await mustLockMessage(tx, id);
        if (state !== "accepted") {
          const reason = `Inbox message ${id} is ${state}: only an accepted one can be routed.`;
          throw new StoreError("conflict", reason);
        }
        const changed = text === undefined ? {} : { payload: text };
        updateMessage(tx, seq, { state: "queued", sessionKey, agentId, ...changed });
      }, `message ${id}`);
    },

    settle: (id, state, detail) =>
      database.write(async (tx) => {
        const seq = rowOf(id) ?? 0;
        const [row, givenUp, at] = await Promise.all([mustLockMessage(tx, id), findGivenUp(tx, seq), tx.now]);
        if (isFinal(row.state)) return false;
        if (row.state === "running") {
          throw new StoreError("conflict", `Inbox message ${id} belongs to a run, which ends it.`);
        }
        const ended = { state, rule: detail?.rule ?? null, reason: detail?.reason ?? null, settledAt: at };
        // The store may have given up the reply before the message ended.
        const undelivered = state === "replied" ? givenUp : undefined;
        updateMessage(tx, seq, undelivered === undefined ? ended : undelivered(ended));
        return true;
      }, `message ${id}`),
  };
}

function createReads<T extends Bodies>({
  database,
}: Context): Pick<InboxStore<T>, "get" | "find" | "findEvent" | "unfinished" | "list"> {
  const get: InboxStore<T>["get"] = (id) =>
    database.query(async (db) => {
      const rows = await selectInbox(db).where(eq(inbox.seq, rowOf(id) ?? 0));
      return rows.flatMap(toInboxRows<T>).find((row) => row.id === id);
    });

  return {
    get,

    find: ({ channel, account, messageId }) =>
      database.query(async (db) => {
        const rows = await selectInbox(db)
          .where(
            and(
              eq(inbox.messageId, messageId),
              eq(inbox.kind, "message"),
              channel === undefined ? undefined : eq(inbox.channel, channel),
              account === undefined ? undefined : eq(inbox.account, account),
            ),
          )
          .orderBy(desc(inbox.seq))
          .limit(1);
        return rows.flatMap(toInboxRows<T>)[0];
      }),

    findEvent: ({ channel, account, eventId }) =>
      database.query(async (db) => {
        const key = dedupeKey("event", channel, account, eventId);
        const rows = await selectInbox(db).where(
          and(
            eq(inbox.seq, sql`(SELECT seq FROM ${dedupe} WHERE key = ${key.hash})`),
            eq(inbox.channel, channel),
            eq(inbox.account, account),
            eq(inbox.eventId, eventId),
          ),
        );
        return rows.flatMap(toInboxRows<T>)[0];
      }),

    async *unfinished() {
      const rows = await database.query((db) =>
        db.select({ seq: inbox.seq }).from(inbox).where(isNull(inbox.settledAt)).orderBy(inbox.seq),
      );
      for (const { seq } of rows)
        yield* await database.query(async (db) =>
          (await selectInbox(db).where(eq(inbox.seq, seq))).flatMap(toInboxRows<T>),
        );
    },

    list: ({ limit = DEFAULT_LIMIT, ...filter } = {}) =>
      database.query(async (db) => {
        const rows = await selectInbox(db).where(meetsFilter(filter)).orderBy(desc(inbox.seq)).limit(limit);
        return rows.flatMap(toInboxRows<T>);
      }),
  };
}

/** Skips messages that another transaction is changing, and those behind them. The next call claims them. */
function claimDue<T extends Bodies>(
  { database }: Context,
  fence: Fence,
  lease: LeaseToken,
  mayClaim: (route: InboxRoute | undefined) => boolean = () => true,
): Promise<readonly InboxRow<T>[]> {
  return database.write(async (tx) => {
    const { db } = tx;
    const due = db
      .select()
      .from(inbox)
      .where(and(isWaiting(), lte(inbox.format, ROW_FORMAT), fence.isLost(inbox, lease)))
      .for("update", { skipLocked: true });
    const [, locked] = await Promise.all([fence.check(tx, lease), due]);
    const eligible = locked.filter(({ sessionKey, agentId }) =>
      mayClaim(sessionKey === null || agentId === null ? undefined : { sessionKey, agentId }),
    );
    const claimed = await omitBlocked(tx, eligible, lease);
    const stamp = { leaseName: lease.name, leaseEpoch: lease.epoch };
    for (const { seq } of claimed) updateMessage(tx, seq, stamp);
    return claimed
      .flatMap((row) => toInboxRows<T>({ row: { ...row, ...stamp }, run: null }))
      .toSorted((a, b) => a.seq - b.seq);
  });
}

/**
 * Omits messages whose session has an earlier waiting one that was skipped or belongs to another valid lease. Messages
 * of a session are answered in their order.
 */
async function omitBlocked(
  { db }: Transaction,
  eligible: readonly InboxRecord[],
  { name, epoch }: LeaseToken,
): Promise<readonly InboxRecord[]> {
  const sessions = [...new Set(eligible.flatMap(({ sessionKey }) => sessionKey ?? []))];
  if (sessions.length === 0) return eligible;
  const isOwn = sql`(${inbox.leaseName} = ${name} AND ${inbox.leaseEpoch} = ${epoch})`;
  const others = await db
    .select({ seq: inbox.seq, sessionKey: inbox.sessionKey })
    .from(inbox)
    .where(
      and(
        isWaiting(),
        inArray(inbox.sessionKey, sessions),
        notInArray(
          inbox.seq,
          eligible.map(({ seq }) => seq),
        ),
        sql`${isOwn} IS NOT TRUE`,
      ),
    );
  return eligible.filter(
    ({ seq, sessionKey }) => !others.some((other) => other.sessionKey === sessionKey && other.seq < seq),
  );
}

function release({ database }: Context, ids: readonly InboxId[], { name, epoch }: LeaseToken): Promise<void> {
  const isOwn = and(eq(inbox.leaseName, name), eq(inbox.leaseEpoch, epoch));
  const seqs = ids.map((id) => rowOf(id) ?? 0);
  return database.write(async ({ db }) => {
    await db
      .update(inbox)
      .set({ leaseName: "", leaseEpoch: 0 })
      .where(and(inArray(inbox.seq, seqs), isWaiting(), isOwn));
  });
}
