import type { Context } from "./context.ts";
import { StoreError } from "./errors.ts";
import { encode, encodeOptional } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { MessageChain } from "./messages.ts";
import type { SessionRecord } from "./records.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { SessionStore } from "./types/sessions.ts";

const unlimited = Number.MAX_SAFE_INTEGER;

/** A setting after a patch: `undefined` leaves it, `null` removes it. */
function patched(value: string | null | undefined, before: string | null): string | null {
  return value === undefined ? before : value;
}

export function createSessionStore<T extends Bodies>(
  { database, queue, now }: Context,
  fence: Fence,
  rows: SessionRows,
  chain: MessageChain<T>,
): SessionStore<T> {
  const setSettings = database.command<
    [string | null, string | null, string | null, string | null, number, string]
  >("UPDATE session SET title = ?, model = ?, thinking = ?, data = ?, updated_at = ? WHERE key = ?");
  const setSummary = database.command<[number, number, string]>(
    "UPDATE session SET floor_seq = ?, summary_entry = ? WHERE key = ?",
  );
  const setGeneration = database.command<[number, number, string]>(
    `UPDATE session SET generation = generation + 1, floor_seq = last_seq, summary_entry = NULL, message_count = 0,
       reset_at = ?, updated_at = ? WHERE key = ?`,
  );
  const remove = database.command<[string]>("DELETE FROM session WHERE key = ?");
  const list = database.query<[string | null, string | null, string | null, number, number], SessionRecord>(
    `SELECT * FROM session WHERE (?1 IS NULL OR agent_id = ?1) AND (?2 IS NULL OR channel = ?2)
       AND (?3 IS NULL OR peer = ?3) AND updated_at < ?4
     ORDER BY updated_at DESC, key LIMIT ?5`,
  );

  return {
    get: (key) =>
      queue.read(() => {
        const held = rows.load(key);
        return held === undefined ? undefined : rows.toSession(held);
      }),

    ensure: (seed) =>
      queue.write(() => {
        const held = rows.load(seed.key) ?? { record: rows.create(seed, now()), active: undefined };
        return rows.toSession(held);
      }),

    async patch(key, patch) {
      const data = patch.data === undefined ? undefined : encodeOptional(patch.data, "The data of a session");
      return queue.write(() => {
        const { record } = rows.mustLoad(key);
        setSettings.run(
          patched(patch.title, record.title),
          patched(patch.model, record.model),
          patched(patch.thinking, record.thinking),
          patched(data, record.data),
          now(),
          key,
        );
        return rows.toSession(rows.mustLoad(key));
      });
    },

    history: (key, options) =>
      queue.read(() => {
        const held = rows.load(key);
        if (held === undefined) return [];
        const limit = options?.limit ?? unlimited;
        const { floor_seq, summary_entry } = held.record;
        const messages = chain.after(rows.head(held), key, floor_seq, limit);
        const summary =
          summary_entry === null || messages.length >= limit ? undefined : chain.one(summary_entry, key);
        return summary === undefined ? messages : [summary, ...messages];
      }),

    transcript: (key, options) =>
      queue.read(() => {
        const held = rows.load(key);
        return held === undefined
          ? []
          : chain.back(rows.head(held), key, options?.before ?? unlimited, options?.limit ?? unlimited);
      }),

    async append(key, messages, lease) {
      const bodies = messages.map((message) => encode(message, "A message"));
      return queue.write(() => {
        fence.check(lease);
        const held = rows.mustLoad(key);
        rows.requireFree(held, lease);
        const { generation } = held.record;
        const run = held.active?.run ?? null;
        rows.saveHead(
          held,
          chain.append(rows.head(held), { sessionKey: key, generation, run, at: now() }, bodies),
        );
        rows.touch(key, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },

    async compact(key, { summary, upTo, lease }) {
      const body = encode(summary, "A summary");
      return queue.write(() => {
        fence.check(lease);
        const held = rows.mustLoad(key);
        rows.requireFree(held, lease);
        const head = rows.head(held);
        const left = chain.countAfter(head, key, held.record.floor_seq, upTo);
        if (left === undefined) {
          throw new StoreError(
            "conflict",
            `Message ${upTo} is not in the present history of session "${key}".`,
          );
        }
        const { generation } = held.record;
        const run = held.active?.run ?? null;
        const after = chain.appendSummary(head, { sessionKey: key, generation, run, at: now() }, body);
        rows.saveHead(held, { ...after, message_count: left + 1 });
        setSummary.run(upTo, after.last_entry, key);
        rows.touch(key, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },

    reset: (key, lease) =>
      queue.write(() => {
        fence.check(lease);
        rows.requireFree(rows.mustLoad(key));
        setGeneration.run(now(), now(), key);
        return rows.toSession(rows.mustLoad(key));
      }),

    remove: (key, lease) =>
      queue.write(() => {
        fence.check(lease);
        const held = rows.load(key);
        if (held === undefined) return false;
        rows.requireFree(held);
        chain.remove(held.record, key);
        remove.run(key);
        return true;
      }),

    list: (filter) =>
      queue.read(() =>
        list
          .all(
            filter?.agentId ?? null,
            filter?.channel ?? null,
            filter?.peer ?? null,
            filter?.before ?? unlimited,
            filter?.limit ?? 100,
          )
          .map((record) => rows.toSession({ record, active: rows.active(record.key) })),
      ),
  };
}
