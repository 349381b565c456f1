import { and, count, eq, isNull, sql } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { type DedupeIndex, dedupeKey } from "./dedupe.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import {
  damage,
  type InboundBody,
  type InboxRead,
  type InboxRows,
  inboxIdOf,
  isFinal,
} from "./inbox-rows.ts";
import { decode, encode } from "./json.ts";
import { type Fence, isSameLease } from "./leases.ts";
import { account as accountTable, type InboxRecord, inbox } from "./schema/index.ts";
import type { Bodies, InboxId, LeaseToken } from "./types/common.ts";
import type { InboxAccept, InboxChange, InboxStore, PlatformMessage } from "./types/inbox.ts";
import type { StoreLogger } from "./types/store.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: InboxRows<T>;
  readonly entries: Entries;
  readonly dedupe: DedupeIndex;
  readonly answers: Pick<Answers, "settled">;
  /** Unfinished messages beyond which none is accepted. */
  readonly limit: number;
  readonly logger: StoreLogger | undefined;
}

export function createInboxStore<T extends Bodies>(context: Context, parts: Parts<T>): InboxStore<T> {
  const { database, queue, now, nonce } = context;
  const { fence, rows, entries, dedupe, answers, limit, logger } = parts;
  const { db } = database;
  const insert = database.insert(inbox);
  const unfinished = database.query(() =>
    db.select({ n: count() }).from(inbox).where(isNull(inbox.settledAt)),
  );
  const setRoute = database.command((p: Bound<{ seq: number; sessionKey: string; agentId: string }>) =>
    db
      .update(inbox)
      .set({ state: "queued", sessionKey: p.sessionKey, agentId: p.agentId })
      .where(eq(inbox.seq, p.seq)),
  );
  const markWithdrawn = database.command((p: Bound<{ seq: number; rule: string; reason: string | null }>) =>
    db.update(inbox).set({ rule: p.rule, reason: p.reason }).where(eq(inbox.seq, p.seq)),
  );
  const countRevision = database.command((p: Bound<{ seq: number }>) =>
    db
      .update(inbox)
      .set({ revision: sql`${inbox.revision} + 1` })
      .where(eq(inbox.seq, p.seq)),
  );
  const accountOf = database.query((p: Bound<{ channel: string; account: string }>) =>
    db
      .select()
      .from(accountTable)
      .where(and(eq(accountTable.channel, p.channel), eq(accountTable.account, p.account))),
  );
  const addAccount = database.insert(accountTable);
  const accounts = database.query(() => db.select().from(accountTable));

  let open = { transaction: -1, count: 0 };
  /** Counted once in a transaction; what ends within it is not subtracted. */
  function openCount(): number {
    if (open.transaction !== queue.transaction) {
      open = { transaction: queue.transaction, count: unfinished.get()?.n ?? 0 };
    }
    return open.count;
  }

  /** The first delivery of an event, by either of its names. */
  function firstDelivery(keys: Keys) {
    return dedupe.find(keys.event) ?? (keys.message === undefined ? undefined : dedupe.find(keys.message));
  }

  function byPlatformId({ channel, account, messageId }: PlatformMessage): InboxRecord | undefined {
    const seen = dedupe.find(dedupeKey("message", channel, account, messageId));
    return seen === undefined || seen === "pruned" ? undefined : seen.row;
  }

  function change(
    message: PlatformMessage | InboxId,
    apply: (row: InboxRecord) => InboxChange,
  ): Promise<InboxChange> {
    return queue.write((): InboxChange => {
      const row = typeof message === "string" ? rows.byId(message) : byPlatformId(message);
      return row === undefined ? { outcome: "unknown" } : apply(row);
    });
  }

  function setPayload(row: InboxRecord, payload: T["inbound"]): void {
    entries.setBody(row.entry, encode({ ...rows.event(row), payload }, "A changed message"));
  }

  function mustFind(id: InboxId): InboxRecord {
    const row = rows.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
    return row;
  }

  /** One whose body is gone cannot be answered, and would keep all others waiting: it gets its end. */
  function endDamaged(damaged: readonly InboxRecord[]): void {
    if (damaged.length === 0) return;
    for (const { seq } of damaged) rows.end({ seq, state: "failed-reported", ...damage });
    const messages = damaged.map(inboxIdOf);
    logger?.warn({ messages }, "messages whose content is missing were ended as failed");
  }

  /** What waits and nobody works on, whoever had it before. */
  function handOverDue(to: LeaseToken): InboxRead<T> {
    fence.check(to);
    const lost = rows.holders().filter((holder) => !isSameLease(holder, to) && fence.lost(holder));
    const given = lost.map((holder) => rows.handOver(holder, to));
    return {
      rows: given.flatMap((read) => read.rows).toSorted((a, b) => a.seq - b.seq),
      damaged: given.flatMap((read) => read.damaged),
    };
  }

  return {
    async accept(event) {
      const body = bodyOf(event);
      const keys = keysOf(event);
      const receivedAt = event.receivedAt ?? now();
      return queue.write(() => {
        const seen = firstDelivery(keys);
        if (seen === "pruned") return { outcome: "duplicate" };
        if (seen !== undefined) {
          const { seq, state } = seen.row;
          return { outcome: "duplicate", id: inboxIdOf(seen.row), seq, state };
        }
        const unfinishedNow = openCount();
        if (unfinishedNow >= limit) return { outcome: "full", unfinished: unfinishedNow, limit };

        const { channel, account, route } = event;
        const state = route === undefined ? "accepted" : "queued";
        const row = {
          nonce: nonce(receivedAt),
          state,
          entry: entries.add("inbound", body, { at: receivedAt }),
          eventKey: keys.event.number,
          messageKey: keys.message?.number ?? null,
          sessionKey: route?.sessionKey ?? null,
          agentId: route?.agentId ?? null,
          receivedAt,
          leaseName: event.lease?.name ?? "",
          leaseEpoch: event.lease?.epoch ?? 0,
        } as const;
        const seq = insert.run(row).rowNumber;
        if (accountOf.get({ channel, account }) === undefined) addAccount.run({ channel, account });
        dedupe.add(keys, seq);
        open.count += 1;
        return { outcome: "accepted", id: inboxIdOf({ ...row, seq }), seq, state };
      });
    },

    async route(id, { sessionKey, agentId }, payload) {
      const copy = payload === undefined ? undefined : copied(payload);
      return queue.write(() => {
        const row = mustFind(id);
        const { seq, state } = row;
        if (state !== "accepted") {
          throw new StoreError(
            "conflict",
            `Inbox message ${id} is ${state}: only an accepted one can be routed.`,
          );
        }
        setRoute.run({ seq, sessionKey, agentId });
        if (copy !== undefined) setPayload(row, copy);
      });
    },

    settle: (id, state, detail) =>
      queue.write(() => {
        const row = mustFind(id);
        if (isFinal(row.state)) return false;
        if (row.state === "running") {
          throw new StoreError("conflict", `Inbox message ${id} belongs to a run, which ends it.`);
        }
        rows.end({ seq: row.seq, state, rule: detail?.rule ?? null, reason: detail?.reason ?? null });
        if (state === "replied") answers.settled(row.seq);
        return true;
      }),

    async revise(message, payload) {
      const copy = copied(payload);
      return change(message, (row) => {
        if (isLate(row)) {
          if (row.run === null) setPayload(row, copy);
          return late(row);
        }
        setPayload(row, copy);
        countRevision.run({ seq: row.seq });
        return { outcome: "applied", id: inboxIdOf(row), state: row.state };
      });
    },

    withdraw: (message, detail) =>
      change(message, (row) => {
        const ended = { seq: row.seq, rule: detail?.rule ?? "withdrawn", reason: detail?.reason ?? null };
        if (row.state === "running" && row.rule === null) {
          markWithdrawn.run(ended);
          return { outcome: "applied", id: inboxIdOf(row), state: "running" };
        }
        if (isLate(row)) return late(row);
        rows.end({ ...ended, state: "ignored" });
        return { outcome: "applied", id: inboxIdOf(row), state: "ignored" };
      }),

    get: (id) =>
      queue.read(() => {
        const row = rows.byId(id);
        return row === undefined ? undefined : rows.full(row.seq);
      }),

    find: ({ channel, account, messageId }) =>
      queue.read(() => {
        const places = accounts
          .all()
          .filter(
            (place) =>
              (channel ?? place.channel) === place.channel && (account ?? place.account) === place.account,
          );
        const newest = places
          .flatMap((place) => byPlatformId({ ...place, messageId }) ?? [])
          .toSorted((a, b) => b.seq - a.seq)[0];
        return newest === undefined ? undefined : rows.full(newest.seq);
      }),

    queued: async (sessionKey) => (await queue.read(() => rows.queued(sessionKey))).rows,
    claimDue: (lease) =>
      queue.write(() => {
        const { rows: due, damaged } = handOverDue(lease);
        endDamaged(damaged);
        return due;
      }),
    list: (filter) => queue.read(() => rows.list(filter ?? {})),
  };
}

/** As it is kept: what the caller changes in it afterwards changes nothing. */
function copied<Payload>(payload: Payload): Payload {
  return decode<Payload>(encode(payload, "The payload of a changed message"));
}

type Keys = ReturnType<typeof keysOf>;

function keysOf({ channel, account, eventId, messageId, kind }: InboxAccept) {
  return {
    event: dedupeKey("event", channel, account, eventId),
    message:
      kind === "message" && messageId !== undefined
        ? dedupeKey("message", channel, account, messageId)
        : undefined,
  };
}

function bodyOf<T extends Bodies>(event: InboxAccept<T>): string {
  const { channel, account, eventId, messageId, kind, conversationId, senderId, payload } = event;
  if (payload === undefined) throw new StoreError("invalid", "An inbound event needs a payload.");
  const body: InboundBody<T> = {
    channel,
    account,
    eventId,
    ...(messageId === undefined ? {} : { messageId }),
    kind,
    conversationId,
    senderId,
    payload,
  };
  return encode(body, "The payload of an inbound event");
}

const isLate = ({ state }: InboxRecord): boolean => state !== "accepted" && state !== "queued";

function late(row: InboxRecord): InboxChange {
  return { outcome: "late", id: inboxIdOf(row), state: row.state };
}
