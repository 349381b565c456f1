/**
 * The tables as drizzle sees them: for people who query the database with it, and the source of the row types in this
 * package. The store itself imports only the types, since loading drizzle costs more time and memory than the rest of
 * it. The SQL in `migrations/` makes the tables; a test holds the two together.
 *
 * @module
 */
import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { InboxId, OutboxId, RunId } from "./types/common.ts";

export const lease = sqliteTable("lease", {
  name: text().notNull().primaryKey(),
  holder: text().notNull(),
  epoch: integer().notNull(),
  expires_at: integer().notNull(),
});

export const entry = sqliteTable("entry", {
  id: integer().primaryKey(),
  kind: text({ enum: ["message", "summary", "inbound", "outbound"] }).notNull(),
  session_key: text(),
  seq: integer(),
  prev: integer(),
  generation: integer(),
  run: integer(),
  at: integer().notNull(),
  body: text().notNull(),
});

export const inbox = sqliteTable(
  "inbox",
  {
    seq: integer().primaryKey(),
    id: text().$type<InboxId>().notNull(),
    state: text({
      enum: [
        "accepted",
        "queued",
        "running",
        "replied",
        "silent",
        "ignored",
        "failed-reported",
        "expired-reported",
      ],
    }).notNull(),
    entry: integer().notNull(),
    event_key: integer().notNull(),
    message_key: integer(),
    session_key: text(),
    agent_id: text(),
    run: integer(),
    rule: text(),
    reason: text(),
    revision: integer().notNull(),
    received_at: integer().notNull(),
    settled_at: integer(),
  },
  (t) => [index("inbox_open").on(t.session_key, t.seq).where(sql`settled_at IS NULL`)],
);

export const account = sqliteTable(
  "account",
  {
    channel: text().notNull(),
    account: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account] })],
);

export const dedupe = sqliteTable("dedupe", {
  key: integer().primaryKey(),
  seq: integer().notNull(),
  day: integer().notNull(),
});

export const dedupeMark = sqliteTable("dedupe_mark", {
  one: integer().primaryKey(),
  seq: integer().notNull(),
});

export const session = sqliteTable("session", {
  key: text().notNull().primaryKey(),
  agent_id: text().notNull(),
  channel: text().notNull(),
  account: text().notNull(),
  peer: text().notNull(),
  kind: text().notNull(),
  title: text(),
  model: text(),
  thinking: text(),
  data: text(),
  generation: integer().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  reset_at: integer(),
  last_entry: integer(),
  last_seq: integer().notNull(),
  message_count: integer().notNull(),
  floor_seq: integer().notNull(),
  summary_entry: integer(),
  last_run: integer(),
  runs: integer().notNull(),
  model_calls: integer().notNull(),
  input_tokens: integer().notNull(),
  output_tokens: integer().notNull(),
  cache_read_tokens: integer().notNull(),
  cache_write_tokens: integer().notNull(),
  cost_micros: integer().notNull(),
});

export const run = sqliteTable("run", {
  n: integer().primaryKey(),
  id: text().$type<RunId>().notNull(),
  session_key: text().notNull(),
  agent_id: text().notNull(),
  generation: integer().notNull(),
  state: text({ enum: ["running", "completed", "failed", "aborted", "poisoned"] }).notNull(),
  lease_name: text().notNull(),
  lease_epoch: integer().notNull(),
  attempts: integer().notNull(),
  meta: text(),
  error: text(),
  inbox: text().notNull(),
  outbox: text().notNull(),
  prev_run: integer(),
  last_entry: integer(),
  started_at: integer().notNull(),
  finished_at: integer(),
  model_calls: integer(),
  input_tokens: integer(),
  output_tokens: integer(),
  cache_read_tokens: integer(),
  cache_write_tokens: integer(),
  cost_micros: integer(),
});

export const activeRun = sqliteTable("active_run", {
  session_key: text().notNull().primaryKey(),
  run: integer().notNull(),
  last_entry: integer(),
  last_seq: integer().notNull(),
  message_count: integer().notNull(),
});

export const toolCall = sqliteTable(
  "tool_call",
  {
    run: integer().notNull(),
    n: integer().notNull(),
    call_id: text().notNull(),
    name: text().notNull(),
    args: text().notNull(),
    effects: text({ enum: ["none", "idempotent", "external"] }).notNull(),
    state: text({ enum: ["intent", "started", "done"] }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.run, t.n] })],
);

export const outbox = sqliteTable(
  "outbox",
  {
    seq: integer().primaryKey(),
    id: text().$type<OutboxId>().notNull(),
    key: text().notNull(),
    keyed: integer().notNull(),
    entry: integer().notNull(),
    channel: text().notNull(),
    account: text().notNull(),
    address: text().notNull(),
    part_count: integer().notNull(),
    state: text({ enum: ["pending", "sending", "sent", "uncertain", "dead", "expired"] }).notNull(),
    lease_name: text(),
    lease_epoch: integer(),
    attempts: integer().notNull(),
    next_at: integer().notNull(),
    expires_at: integer(),
    receipts: text(),
    error: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    answers: text(),
  },
  (t) => [
    index("outbox_open")
      .on(t.channel, t.account, t.address, t.seq)
      .where(sql`state IN ('pending', 'sending')`),
    index("outbox_ended").on(t.seq).where(sql`state IN ('dead', 'uncertain', 'expired')`),
    uniqueIndex("outbox_key").on(t.key).where(sql`keyed = 1`),
  ],
);

export const usageDay = sqliteTable(
  "usage_day",
  {
    day: text().notNull(),
    agent_id: text().notNull(),
    session_key: text().notNull(),
    runs: integer().notNull(),
    model_calls: integer().notNull(),
    input_tokens: integer().notNull(),
    output_tokens: integer().notNull(),
    cache_read_tokens: integer().notNull(),
    cache_write_tokens: integer().notNull(),
    cost_micros: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.agent_id, t.session_key] })],
);

export const routeCache = sqliteTable("route_cache", {
  digest: text().notNull().primaryKey(),
  config: text().notNull(),
  route: text().notNull(),
  at: integer().notNull(),
});

export const groupHistory = sqliteTable(
  "group_history",
  {
    n: integer().primaryKey(),
    conversation: text().notNull(),
    entry_id: text().notNull(),
    sender_id: text().notNull(),
    body: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [uniqueIndex("group_history_entry").on(t.conversation, t.entry_id)],
);

export const kv = sqliteTable(
  "kv",
  {
    namespace: text().notNull(),
    key: text().notNull(),
    value: text().notNull(),
    expires_at: integer(),
  },
  (t) => [primaryKey({ columns: [t.namespace, t.key] })],
);

export const pairingRequest = sqliteTable(
  "pairing_request",
  {
    channel: text().notNull(),
    account: text().notNull(),
    peer_id: text().notNull(),
    label: text(),
    code_hash: blob({ mode: "buffer" }).notNull(),
    tries: integer().notNull(),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account, t.peer_id] })],
);

export const pairingPeer = sqliteTable(
  "pairing_peer",
  {
    channel: text().notNull(),
    account: text().notNull(),
    peer_id: text().notNull(),
    label: text(),
    approved_at: integer().notNull(),
    approved_by: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account, t.peer_id] })],
);

export const trace = sqliteTable(
  "trace",
  {
    n: integer().primaryKey(),
    subject: text().notNull(),
    entries: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [index("trace_subject").on(t.subject)],
);
