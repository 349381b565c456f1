-- A commit writes whole pages to the log. So everything large is appended to one table (`entry`) and hardly ever
-- rewritten; what changes (states, heads) sits in narrow rows beside it; and an index is worth its pages only where
-- few rows are in it.

CREATE TABLE lease (
  name TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every body: `message` and `summary` are a session's chain (`session.last_entry`, then `prev` of each), `inbound` an
-- event with its payload, `outbound` a reply.
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  session_key TEXT,
  seq INTEGER,
  prev INTEGER,
  generation INTEGER,
  run INTEGER,
  at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- The state of a message. The last eight characters of `id` are `seq`, so looking up an id needs no index.
CREATE TABLE inbox (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  entry INTEGER NOT NULL,
  event_key INTEGER NOT NULL,
  message_key INTEGER,
  session_key TEXT,
  agent_id TEXT,
  run INTEGER,
  rule TEXT,
  reason TEXT,
  revision INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;
CREATE INDEX inbox_open ON inbox (session_key, seq) WHERE settled_at IS NULL;

-- Keys against redelivery, of the inbox rows up to the mark. They outlive the rows.
CREATE TABLE dedupe (
  key INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  day INTEGER NOT NULL
) STRICT;
CREATE TABLE dedupe_mark (
  one INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
INSERT INTO dedupe_mark (one, seq) VALUES (1, 0);

CREATE TABLE session (
  key TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  peer TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT,
  model TEXT,
  thinking TEXT,
  data TEXT,
  generation INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  reset_at INTEGER,
  last_entry INTEGER,
  last_seq INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  floor_seq INTEGER NOT NULL,
  summary_entry INTEGER,
  last_run INTEGER,
  runs INTEGER NOT NULL,
  model_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  state TEXT NOT NULL,
  lease_name TEXT NOT NULL,
  lease_epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  meta TEXT,
  error TEXT,
  inbox TEXT NOT NULL,
  outbox TEXT NOT NULL,
  prev_run INTEGER,
  last_entry INTEGER,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  model_calls INTEGER,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  cost_micros INTEGER
) STRICT;

-- The run that holds a session, and the head of its chain until the run ends.
CREATE TABLE active_run (
  session_key TEXT NOT NULL PRIMARY KEY,
  run INTEGER NOT NULL,
  last_entry INTEGER,
  last_seq INTEGER NOT NULL,
  message_count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_call (
  run INTEGER NOT NULL,
  n INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  name TEXT NOT NULL,
  args TEXT NOT NULL,
  effects TEXT NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  key TEXT NOT NULL,
  keyed INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  address TEXT NOT NULL,
  part_count INTEGER NOT NULL,
  state TEXT NOT NULL,
  lease_name TEXT,
  lease_epoch INTEGER,
  attempts INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  expires_at INTEGER,
  receipts TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_open ON outbox (channel, account, address, seq) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_ended ON outbox (seq) WHERE state IN ('dead', 'uncertain', 'expired');
CREATE UNIQUE INDEX outbox_key ON outbox (key) WHERE keyed = 1;

CREATE TABLE usage_day (
  day TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  runs INTEGER NOT NULL,
  model_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (day, agent_id, session_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE route_cache (
  digest TEXT NOT NULL PRIMARY KEY,
  config TEXT NOT NULL,
  route TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE group_history (
  n INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL,
  entry_id TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX group_history_entry ON group_history (conversation, entry_id);

CREATE TABLE kv (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE pairing_request (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  peer_id TEXT NOT NULL,
  label TEXT,
  code_hash BLOB NOT NULL,
  tries INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (channel, account, peer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pairing_peer (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  peer_id TEXT NOT NULL,
  label TEXT,
  approved_at INTEGER NOT NULL,
  approved_by TEXT NOT NULL,
  PRIMARY KEY (channel, account, peer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE trace (
  n INTEGER PRIMARY KEY,
  subject TEXT NOT NULL,
  entries TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX trace_subject ON trace (subject);
