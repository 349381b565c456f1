import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import { type DedupeIndex, dedupeKey, type Seen } from "./dedupe.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { type InboundBody, type InboxReader, isFinal } from "./inbox-rows.ts";
import { decode, encode } from "./json.ts";
import type { InboxRecord } from "./records.ts";
import type { Bodies, InboxId } from "./types/common.ts";
import type { InboxChange, InboxStore, PlatformMessage } from "./types/inbox.ts";

function rowOf(seen: Seen | undefined): InboxRecord | undefined {
  return seen === undefined || seen === "pruned" ? undefined : seen.row;
}

export function createInboxStore<T extends Bodies>(
  context: Context,
  reader: InboxReader<T>,
  entries: Entries,
  dedupe: DedupeIndex,
  answers: Pick<Answers, "settled">,
): InboxStore<T> {
  const { database, queue, now } = context;
  const makeId = context.newIdMaker();
  const unfinished = database.query<[], { n: number }>(
    "SELECT count(*) AS n FROM inbox WHERE settled_at IS NULL",
  );
  const nextSeq = database.query<[], { seq: number }>("SELECT coalesce(max(seq), 0) + 1 AS seq FROM inbox");
  const insert = database.command<
    [number, InboxId, string, number, number, number | null, string | null, string | null, number]
  >(
    `INSERT INTO inbox (seq, id, state, entry, event_key, message_key, session_key, agent_id, revision, received_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
  );
  const setRoute = database.command<[string, string, number]>(
    "UPDATE inbox SET state = 'queued', session_key = ?, agent_id = ? WHERE seq = ?",
  );
  const setEnd = database.command<[string, string | null, string | null, number, number]>(
    "UPDATE inbox SET state = ?, rule = ?, reason = ?, settled_at = ? WHERE seq = ?",
  );
  const knownAccount = database.query<[string, string], { one: 1 }>(
    "SELECT 1 AS one FROM account WHERE channel = ? AND account = ?",
  );
  const addAccount = database.command<[string, string]>(
    "INSERT INTO account (channel, account) VALUES (?, ?)",
  );
  const accounts = database.query<[string | null, string | null], { channel: string; account: string }>(
    "SELECT channel, account FROM account WHERE (?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR account = ?2)",
  );
  const markWithdrawn = database.command<[string, string | null, number]>(
    "UPDATE inbox SET rule = ?, reason = ? WHERE seq = ?",
  );
  const countRevision = database.command<[number]>("UPDATE inbox SET revision = revision + 1 WHERE seq = ?");

  let open = { transaction: -1, count: 0 };
  /** Counted once in a transaction; what ends within it is not subtracted. */
  function openCount(): number {
    if (open.transaction !== queue.transaction) {
      open = { transaction: queue.transaction, count: unfinished.get()?.n ?? 0 };
    }
    return open.count;
  }

  function change(message: PlatformMessage | InboxId, apply: (row: InboxRecord) => InboxChange) {
    const key =
      typeof message === "string"
        ? undefined
        : dedupeKey("message", message.channel, message.account, message.messageId);
    return queue.write((): InboxChange => {
      const row = typeof message === "string" ? reader.byId(message) : rowOf(key && dedupe.find(key));
      if (row === undefined) return { outcome: "unknown" };
      return apply(row);
    });
  }

  const isLate = ({ state }: InboxRecord): boolean => state !== "accepted" && state !== "queued";
  const late = ({ id, state }: InboxRecord): InboxChange => ({ outcome: "late", id, state });

  function waiting(id: InboxId): InboxRecord {
    const row = reader.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
    return row;
  }

  return {
    async accept(event) {
      const { channel, account, eventId, messageId, kind, conversationId, senderId, payload, route } = event;
      const inbound: InboundBody<T> = {
        ...{ channel, account, eventId },
        ...(messageId === undefined ? {} : { messageId }),
        ...{ kind, conversationId, senderId, payload },
      };
      const body = encode(inbound, "The payload of an inbound event");
      if (payload === undefined) throw new StoreError("invalid", "An inbound event needs a payload.");
      const eventKey = dedupeKey("event", channel, account, eventId);
      const messageKey =
        kind === "message" && messageId !== undefined
          ? dedupeKey("message", channel, account, messageId)
          : undefined;
      const at = event.receivedAt ?? now();
      return queue.write(() => {
        const seen =
          dedupe.find(eventKey) ?? (messageKey === undefined ? undefined : dedupe.find(messageKey));
        if (seen === "pruned") return { outcome: "duplicate" };
        if (seen !== undefined) {
          const { id, seq, state } = seen.row;
          return { outcome: "duplicate", id, seq, state };
        }
        const count = openCount();
        if (count >= context.inboxLimit)
          return { outcome: "full", unfinished: count, limit: context.inboxLimit };

        const seq = nextSeq.get()?.seq ?? 1;
        const id = makeId<InboxId>(now(), seq);
        const state = route === undefined ? "accepted" : "queued";
        const keys = messageKey === undefined ? [eventKey] : [eventKey, messageKey];
        const entry = entries.add("inbound", body, { at });
        insert.run(
          ...([seq, id, state, entry, eventKey.number, messageKey?.number ?? null] as const),
          ...([route?.sessionKey ?? null, route?.agentId ?? null, at] as const),
        );
        if (knownAccount.get(channel, account) === undefined) addAccount.run(channel, account);
        dedupe.add(keys, seq);
        open.count += 1;
        return { outcome: "accepted", id, seq, state };
      });
    },

    route: (id, route) =>
      queue.write(() => {
        const row = waiting(id);
        if (row.state !== "accepted") {
          throw new StoreError(
            "conflict",
            `Inbox message ${id} is ${row.state}: only an accepted one can be routed.`,
          );
        }
        setRoute.run(route.sessionKey, route.agentId, row.seq);
      }),

    settle: (id, state, detail) =>
      queue.write(() => {
        const row = waiting(id);
        if (isFinal(row.state)) return false;
        if (row.state === "running") {
          throw new StoreError("conflict", `Inbox message ${id} belongs to a run, which ends it.`);
        }
        setEnd.run(state, detail?.rule ?? null, detail?.reason ?? null, now(), row.seq);
        if (state === "replied") answers.settled(row.seq);
        return true;
      }),

    async revise(message, payload) {
      const copy = decode<T["inbound"]>(encode(payload, "The payload of an edited message"));
      return change(message, (row) => {
        if (isLate(row)) return late(row);
        entries.setBody(row.entry, encode({ ...reader.event(row), payload: copy }, "An edited message"));
        countRevision.run(row.seq);
        return { outcome: "applied", id: row.id, state: row.state };
      });
    },

    withdraw: (message, detail) =>
      change(message, (row) => {
        const rule = detail?.rule ?? "withdrawn";
        if (row.state === "running" && row.rule === null) {
          markWithdrawn.run(rule, detail?.reason ?? null, row.seq);
          return { outcome: "applied", id: row.id, state: "running" };
        }
        if (isLate(row)) return late(row);
        setEnd.run("ignored", rule, detail?.reason ?? null, now(), row.seq);
        return { outcome: "applied", id: row.id, state: "ignored" };
      }),

    get: (id) => queue.read(() => reader.full(reader.byId(id))),

    find: ({ channel, account, messageId }) =>
      queue.read(() => {
        const places =
          channel === undefined || account === undefined
            ? accounts.all(channel ?? null, account ?? null)
            : [{ channel, account }];
        const found = places.flatMap(
          (place) => rowOf(dedupe.find(dedupeKey("message", place.channel, place.account, messageId))) ?? [],
        );
        return reader.full(found.toSorted((a, b) => b.seq - a.seq)[0]);
      }),

    queued: (sessionKey) => queue.read(() => reader.queued(sessionKey)),
    unrouted: () => queue.read(() => reader.unrouted()),
    pendingSessions: () => queue.read(() => reader.pendingSessions()),
    list: (filter) => queue.read(() => reader.list(filter ?? {})),
  };
}
