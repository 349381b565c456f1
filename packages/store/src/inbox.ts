import { setImmediate } from "node:timers/promises";
import { eq } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { type DedupeIndex, messageRow } from "./dedupe.ts";
import { dedupeKey } from "./dedupe-keys.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { createAccept } from "./inbox-accept.ts";
import { createInboxRevisions } from "./inbox-revisions.ts";
import { damage, type InboxRead, type InboxRows, inboxIdOf, isFinal } from "./inbox-rows.ts";
import { copied } from "./json.ts";
import type { Fence } from "./leases.ts";
import { account as accountTable, type InboxRecord, inbox } from "./schema/index.ts";
import type { Bodies, InboxId, LeaseToken } from "./types/common.ts";
import type { InboxRoute, InboxRow, InboxStore } from "./types/inbox.ts";
import type { Logger } from "./types/logger.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: InboxRows<T>;
  readonly entries: Entries;
  readonly dedupe: DedupeIndex;
  readonly answers: Answers;
  /** Maximum number of unfinished messages. */
  readonly limit: number;
  readonly logger: Pick<Logger, "warn"> | undefined;
}

export function createInboxStore<T extends Bodies>(context: Context, parts: Parts<T>): InboxStore<T> {
  const { queue } = context;
  const { rows, dedupe } = parts;
  return {
    ...createAccept(context, parts),
    ...createWay(context, parts),
    ...createInboxRevisions(context, rows, dedupe),
    ...createReads(context, parts),
    claimDue: (lease, mayClaim = () => true) => queue.write(() => claimDue(parts, lease, mayClaim)),
    release: (ids, lease) =>
      queue.write(() => {
        for (const id of ids) rows.release(id, lease);
      }),
  };
}

/** Creates the methods that change the state of accepted messages. */
function createWay<T extends Bodies>(
  { database, queue }: Context,
  { rows, answers }: Parts<T>,
): Pick<InboxStore<T>, "route" | "settle"> {
  const setRoute = database.command((p: Bound<{ seq: number; sessionKey: string; agentId: string }>) =>
    database.db
      .update(inbox)
      .set({ state: "queued", sessionKey: p("sessionKey"), agentId: p("agentId") })
      .where(eq(inbox.seq, p("seq"))),
  );

  function mustFind(id: InboxId): InboxRecord {
    const row = rows.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
    return row;
  }

  return {
    async route(id, { sessionKey, agentId }, payload) {
      const copy = payload === undefined ? undefined : copied(payload);
      return queue.write(() => {
        const row = mustFind(id);
        const { seq, state } = row;
        if (state !== "accepted") {
          const text = `Inbox message ${id} is ${state}: only an accepted one can be routed.`;
          throw new StoreError("conflict", text);
        }
        setRoute.run({ seq, sessionKey, agentId });
        if (copy !== undefined) rows.setPayload(row, copy);
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
  };
}

function createReads<T extends Bodies>(
  { database, queue }: Context,
  { rows, dedupe }: Parts<T>,
): Pick<InboxStore<T>, "get" | "find" | "findEvent" | "unfinished" | "list"> {
  const accounts = database.query(() => database.db.select().from(accountTable));
  return {
    get: (id) =>
      queue.read(() => {
        const row = rows.byId(id);
        return row === undefined ? undefined : rows.full(row.seq);
      }),

    find: ({ channel, account, messageId }) =>
      queue.read(() => {
        const newest = accounts
          .all()
          .filter((place) => (channel ?? place.channel) === place.channel)
          .filter((place) => (account ?? place.account) === place.account)
          .flatMap((place) => messageRow(dedupe, { ...place, messageId }) ?? [])
          .toSorted((a, b) => b.seq - a.seq)[0];
        return newest === undefined ? undefined : rows.full(newest.seq);
      }),

    findEvent: ({ channel, account, eventId }) =>
      queue.read(() => {
        const seen = dedupe.find(dedupeKey("event", channel, account, eventId));
        return seen === undefined || seen === "pruned" ? undefined : rows.full(seen.row.seq);
      }),

    async *unfinished() {
      for (const seq of await queue.read(() => rows.unfinished())) {
        const row = await queue.read(() => rows.full(seq));
        if (row !== undefined) yield row;
        await setImmediate();
      }
    },

    list: (filter) => queue.read(() => rows.list(filter ?? {})),
  };
}

type MayClaim = (route: InboxRoute | undefined) => boolean;

function claimDue<T extends Bodies>(
  parts: Parts<T>,
  lease: LeaseToken,
  mayClaim: MayClaim,
): readonly InboxRow<T>[] {
  const { rows: due, damaged } = handOverDue(parts, lease, mayClaim);
  endDamaged(parts, damaged);
  return due;
}

/** Moves messages that are waiting without a lease or under a lost lease to the holder `to`. */
function handOverDue<T extends Bodies>(
  { fence, rows }: Parts<T>,
  to: LeaseToken,
  mayClaim: MayClaim,
): InboxRead<T> {
  fence.check(to);
  const lost = rows.holders().filter((holder) => fence.lost(holder, to));
  const given = lost.map((holder) => rows.handOver(holder, to, mayClaim));
  return {
    rows: given.flatMap((read) => read.rows).toSorted((a, b) => a.seq - b.seq),
    damaged: given.flatMap((read) => read.damaged),
  };
}

/** Marks messages with damaged bodies as failed. They cannot be answered and would block later messages. */
function endDamaged<T extends Bodies>({ rows, logger }: Parts<T>, damaged: readonly InboxRecord[]): void {
  if (damaged.length === 0) return;
  for (const { seq } of damaged) rows.end({ seq, state: "failed-reported", ...damage });
  const messages = damaged.map(inboxIdOf);
  logger?.warn({ messages }, "messages whose content is missing or damaged were ended as failed");
}
