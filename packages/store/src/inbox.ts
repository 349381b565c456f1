import { hash } from "node:crypto";
import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { type InboxReader, isFinal } from "./inbox-rows.ts";
import { encode } from "./json.ts";
import type { InboxRecord } from "./records.ts";
import type { Bodies, InboxId } from "./types/common.ts";
import type { InboxChange, InboxStore, PlatformMessage } from "./types/inbox.ts";

const dayMs = 86_400_000;

/** 12 bytes: two different ones among a billion keys are less likely than a broken disk. */
function dedupeKey(kind: "event" | "message", channel: string, account: string, id: string): Buffer {
  return hash("sha256", `${kind}\0${channel}\0${account}\0${id}`, "buffer").subarray(0, 12);
}

export function createInboxStore<T extends Bodies>(context: Context, reader: InboxReader<T>): InboxStore<T> {
  const { database, queue, now } = context;
  const makeId = context.newIdMaker();
  const byKey = database.query<[Buffer], { seq: number }>("SELECT seq FROM dedupe WHERE key = ?");
  const unfinished = database.query<[], { n: number }>(
    "SELECT count(*) AS n FROM inbox WHERE settled_at IS NULL",
  );
  const nextSeq = database.query<[], { seq: number }>("SELECT coalesce(max(seq), 0) + 1 AS seq FROM inbox");
  const insertKey = database.command<[Buffer, number, number]>(
    "INSERT INTO dedupe (key, seq, day) VALUES (?, ?, ?)",
  );
  const insertRow = database.command<[number, InboxId, string, string | null, string | null, number]>(
    `INSERT INTO inbox (seq, id, state, session_key, agent_id, revision, received_at) VALUES (?, ?, ?, ?, ?, 0, ?)`,
  );
  const insertEvent = database.command<
    [number, string, string, string, string | null, string, string, string, string]
  >(
    `INSERT INTO inbox_event (seq, channel, account, event_id, message_id, kind, conversation_id, sender_id, payload)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const setRoute = database.command<[string, string, number]>(
    "UPDATE inbox SET state = 'queued', session_key = ?, agent_id = ? WHERE seq = ?",
  );
  const setEnd = database.command<[string, string | null, string | null, number, number]>(
    "UPDATE inbox SET state = ?, rule = ?, reason = ?, settled_at = ? WHERE seq = ?",
  );
  const countRevision = database.command<[number]>("UPDATE inbox SET revision = revision + 1 WHERE seq = ?");
  const setPayload = database.command<[string, number]>("UPDATE inbox_event SET payload = ? WHERE seq = ?");

  let open = { transaction: -1, count: 0 };
  /** Counted once in a transaction; what ends within it is not subtracted. */
  function openCount(): number {
    if (open.transaction !== queue.transaction) {
      open = { transaction: queue.transaction, count: unfinished.get()?.n ?? 0 };
    }
    return open.count;
  }

  function change(
    { channel, account, messageId }: PlatformMessage,
    apply: (row: InboxRecord) => InboxChange,
  ) {
    const key = dedupeKey("message", channel, account, messageId);
    return queue.write((): InboxChange => {
      const seq = byKey.get(key)?.seq;
      const row = seq === undefined ? undefined : reader.record(seq);
      if (row === undefined) return { outcome: "unknown" };
      if (row.state !== "accepted" && row.state !== "queued") {
        return { outcome: "late", id: row.id, state: row.state };
      }
      return apply(row);
    });
  }

  function waiting(id: InboxId): InboxRecord {
    const row = reader.byId(id);
    if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
    return row;
  }

  return {
    async accept(event) {
      const payload = encode(event.payload, "The payload of an inbound event");
      const { channel, account, eventId, messageId, kind, route } = event;
      const eventKey = dedupeKey("event", channel, account, eventId);
      const messageKey =
        kind === "message" && messageId !== undefined
          ? dedupeKey("message", channel, account, messageId)
          : undefined;
      const at = now();
      return queue.write(() => {
        const first = byKey.get(eventKey) ?? (messageKey === undefined ? undefined : byKey.get(messageKey));
        if (first !== undefined) {
          const row = reader.record(first.seq);
          if (row === undefined) return { outcome: "duplicate" };
          return { outcome: "duplicate", id: row.id, seq: row.seq, state: row.state };
        }
        const count = openCount();
        if (count >= context.inboxLimit)
          return { outcome: "full", unfinished: count, limit: context.inboxLimit };

        const seq = nextSeq.get()?.seq ?? 1;
        const id = makeId<InboxId>(at, seq);
        const state = route === undefined ? "accepted" : "queued";
        const day = Math.floor(at / dayMs);
        insertKey.run(eventKey, seq, day);
        if (messageKey !== undefined) insertKey.run(messageKey, seq, day);
        insertRow.run(
          seq,
          id,
          state,
          route?.sessionKey ?? null,
          route?.agentId ?? null,
          event.receivedAt ?? at,
        );
        insertEvent.run(
          seq,
          channel,
          account,
          eventId,
          messageId ?? null,
          kind,
          event.conversationId,
          event.senderId,
          payload,
        );
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
          throw new StoreError(
            "conflict",
            `Inbox message ${id} belongs to run ${row.run_id}, which ends it.`,
          );
        }
        setEnd.run(state, detail?.rule ?? null, detail?.reason ?? null, now(), row.seq);
        return true;
      }),

    async revise(message, payload) {
      const text = encode(payload, "The payload of an edited message");
      return change(message, (row) => {
        setPayload.run(text, row.seq);
        countRevision.run(row.seq);
        return { outcome: "applied", id: row.id, state: row.state };
      });
    },

    withdraw: (message, detail) =>
      change(message, (row) => {
        setEnd.run("ignored", detail?.rule ?? "withdrawn", detail?.reason ?? null, now(), row.seq);
        return { outcome: "applied", id: row.id, state: "ignored" };
      }),

    get: (id) => queue.read(() => reader.full(reader.byId(id))),

    find: ({ channel, account, messageId }) =>
      queue.read(() => {
        if (channel === undefined || account === undefined) return reader.search(messageId, channel, account);
        const seq = byKey.get(dedupeKey("message", channel, account, messageId))?.seq;
        return seq === undefined ? undefined : reader.full(reader.record(seq));
      }),

    queued: (sessionKey) => queue.read(() => reader.queued(sessionKey)),
    unrouted: () => queue.read(() => reader.unrouted()),
    pendingSessions: () => queue.read(() => reader.pendingSessions()),
    list: (filter) => queue.read(() => reader.list(filter ?? {})),
  };
}
