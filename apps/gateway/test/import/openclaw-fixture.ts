import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import Sqlite from "better-sqlite3";

/** A window of a session with its events. */
export interface FixtureWindow {
  readonly id: string;
  readonly createdAt: number;
  readonly reason?: string;
  readonly previous?: string;
  readonly events: readonly object[];
  /** Indexes of events that are stored compressed. */
  readonly compressed?: ReadonlySet<number>;
  readonly externalContent?: string;
}

export interface FixtureSession {
  readonly key: string;
  readonly createdVia?: string;
  readonly channel?: string;
  readonly account?: string;
  readonly entry?: object;
  readonly windows: readonly FixtureWindow[];
}

/** Tables of OpenClaw 2026.9.6, with the columns that its conversations need. */
const AGENT_TABLES = `
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT,
  created_at INTEGER, updated_at INTEGER, created_via TEXT, label TEXT, display_name TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, previous_session_id TEXT, reason TEXT,
  created_at INTEGER, updated_at INTEGER, channel TEXT, account_id TEXT, hook_external_content_source TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
  event_utf8_bytes INTEGER, navigation_json TEXT, created_at INTEGER);
CREATE TABLE session_transcript_active_events (session_id TEXT, active_position INTEGER, event_seq INTEGER);
PRAGMA user_version = 23;`;

const STATE_TABLES = `
CREATE TABLE schema_meta (meta_key TEXT, app_version TEXT);
INSERT INTO schema_meta VALUES ('primary', '2026.9.6');
CREATE TABLE channel_pairing_allow_entries (channel_key TEXT, account_id TEXT, entry TEXT);
CREATE TABLE channel_pairing_requests (channel_key TEXT);
CREATE TABLE cron_jobs (job_id TEXT, job_json TEXT, declaration_key TEXT, enabled INTEGER);
CREATE TABLE exec_approvals_config (config_key TEXT, raw_json TEXT);
CREATE TABLE secret_store_entries (scope_kind TEXT, name TEXT, value TEXT, deleted_at_ms INTEGER);
CREATE TABLE config_machine_state (state_key TEXT, value_json TEXT);
CREATE TABLE workspace_generated_bootstrap_hashes (workspace_key TEXT, filename TEXT, sha256 TEXT);
CREATE TABLE workspace_setup_state (workspace_key TEXT, workspace_path TEXT);
PRAGMA user_version = 18;`;

/** Creates a home of OpenClaw, with the tables that its version 2026.9.6 creates. */
export function createOpenclawHome(
  dir: string,
  home: {
    readonly configuration: object;
    readonly sessions?: Readonly<Record<string, readonly FixtureSession[]>>;
    readonly paired?: readonly (readonly [channel: string, account: string, id: string])[];
    readonly jobs?: readonly object[];
    readonly approvals?: object;
    readonly files?: Readonly<Record<string, string>>;
  },
): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  write("openclaw.json", JSON.stringify(home.configuration));
  for (const [path, text] of Object.entries(home.files ?? {})) write(path, text);
  write("state/.keep", "");
  const state = new Sqlite(join(dir, "state", "openclaw.sqlite"));
  state.pragma("journal_mode = WAL");
  state.exec(STATE_TABLES);
  for (const each of home.paired ?? [])
    state.prepare("INSERT INTO channel_pairing_allow_entries VALUES (?, ?, ?)").run(...each);
  for (const job of home.jobs ?? []) {
    const { id, declarationKey = null, enabled = true } = job as Record<string, unknown>;
    state
      .prepare("INSERT INTO cron_jobs VALUES (?, ?, ?, ?)")
      .run(id, JSON.stringify(job), declarationKey, enabled ? 1 : 0);
  }
  if (home.approvals !== undefined)
    state
      .prepare("INSERT INTO exec_approvals_config VALUES ('current', ?)")
      .run(JSON.stringify(home.approvals));
  state.close();
  for (const [agent, sessions] of Object.entries(home.sessions ?? {})) writeAgent(dir, agent, sessions);
}

function writeAgent(dir: string, agent: string, sessions: readonly FixtureSession[]): void {
  const folder = join(dir, "agents", agent, "agent");
  mkdirSync(folder, { recursive: true });
  const db = new Sqlite(join(folder, "openclaw-agent.sqlite"));
  db.exec(AGENT_TABLES);
  const addEvent = db.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, NULL, 0)");
  const addActive = db.prepare("INSERT INTO session_transcript_active_events VALUES (?, ?, ?)");
  db.transaction(() => {
    for (const {
      key,
      windows,
      createdVia = "channel",
      channel = "telegram",
      account = "default",
      entry = {},
    } of sessions) {
      const last = windows.at(-1);
      db.prepare("INSERT INTO session_nodes VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)").run(
        key,
        last?.id ?? null,
        JSON.stringify(entry),
        windows[0]?.createdAt ?? 0,
        last?.createdAt ?? 0,
        createdVia,
      );
      for (const { id, createdAt, reason, previous, events, compressed, externalContent } of windows) {
        db.prepare("INSERT INTO session_windows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
          id,
          key,
          previous ?? null,
          reason ?? null,
          createdAt,
          createdAt,
          channel,
          account,
          externalContent ?? null,
        );
        for (const [seq, event] of events.entries()) {
          const text = JSON.stringify(event);
          const zstd = compressed?.has(seq) === true ? zstdCompressSync(text) : null;
          addEvent.run(id, seq, zstd === null ? text : null, zstd, Buffer.byteLength(text));
          addActive.run(id, seq, seq);
        }
      }
    }
  })();
  db.close();
}

/** Returns the event of a person's message. */
export function said(
  id: string,
  text: string,
  at: number,
  sender: {
    readonly id: string;
    readonly name?: string;
    readonly isOwner?: boolean;
    readonly channel?: string;
  } = { id: "5001", name: "Ann", isOwner: true },
): object {
  return {
    type: "message",
    id,
    timestamp: new Date(at).toISOString(),
    message: {
      role: "user",
      content: text,
      timestamp: at,
      __openclaw: {
        senderIsOwner: sender.isOwner ?? false,
        senderId: sender.id,
        senderName: sender.name ?? sender.id,
        transport: { channel: sender.channel ?? "telegram", messageId: `m-${id}` },
      },
    },
  };
}

/** Returns the event of an answer. */
export function answered(
  id: string,
  content: string | readonly object[],
  at: number,
  more: object = {},
): object {
  return {
    type: "message",
    id,
    timestamp: new Date(at).toISOString(),
    message: {
      role: "assistant",
      content: typeof content === "string" ? [{ type: "text", text: content }] : content,
      api: "openai-completions",
      provider: "fake",
      model: "fake-1",
      stopReason: "stop",
      timestamp: at,
      ...more,
    },
  };
}

/** Returns the event of a tool's result. */
export function resulted(id: string, callId: string, tool: string, text: string, at: number): object {
  return {
    type: "message",
    id,
    timestamp: new Date(at).toISOString(),
    message: {
      role: "toolResult",
      toolCallId: callId,
      toolName: tool,
      content: [{ type: "text", text }],
      isError: false,
      timestamp: at,
    },
  };
}
