import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { GatewayError } from "@signalbox/home";
import type { SourceDatabase } from "../database-copy.ts";
import { parseRecord } from "../records.ts";
import { asRecord, asText } from "../settings.ts";
import type { TranscriptEvent } from "./events.ts";

/** Maximum size of one event or archive after decompression, in bytes. */
const MAX_EVENT_BYTES = 64_000_000;

/** Part of a conversation between two resets, or a branch of it. */
export interface SessionWindow {
  readonly sessionId: string;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly previous: string | undefined;
  readonly reason: string | undefined;
  readonly account: string | undefined;
  readonly channel: string | undefined;
  readonly hasExternalContent: boolean;
  events(): Iterable<TranscriptEvent>;
}

/** A session of an agent with its windows, oldest first. */
export interface SourceSession {
  readonly key: string;
  readonly title: string | undefined;
  readonly createdVia: string | undefined;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Windows of the current branch. */
  readonly windows: readonly SessionWindow[];
  /** Number of windows of other branches. */
  readonly leftBranches: number;
}

const TABLES: Readonly<Record<string, readonly string[]>> = {
  session_nodes: [
    "session_key",
    "current_session_id",
    "entry_json",
    "created_at",
    "updated_at",
    "created_via",
  ],
  session_windows: [
    "session_id",
    "session_key",
    "previous_session_id",
    "reason",
    "created_at",
    "channel",
    "account_id",
  ],
  transcript_events: ["session_id", "seq", "event_json"],
  session_transcript_active_events: ["session_id", "active_position", "event_seq"],
};

/**
 * Returns the sessions of an agent's database.
 *
 * @throws GatewayError if the database has other tables, as those of newer versions may have
 */
export function readDatabaseSessions(database: SourceDatabase, agentDir: string): readonly SourceSession[] {
  for (const [table, columns] of Object.entries(TABLES))
    if (!database.has(table, columns))
      throw new GatewayError(
        "failure",
        `The table ${table} has other columns than known versions of OpenClaw (version ${database.version}). It was not read.`,
      );
  const windowsByKey = new Map<string, SessionWindow[]>();
  for (const row of database.all("SELECT * FROM session_windows ORDER BY created_at, session_id")) {
    const key = asText(row["session_key"]) ?? "";
    const windows = windowsByKey.get(key) ?? [];
    windows.push(toWindow(database, agentDir, row));
    windowsByKey.set(key, windows);
  }
  return database.all("SELECT * FROM session_nodes ORDER BY session_key").map((row): SourceSession => {
    const key = asText(row["session_key"]) ?? "";
    const entry = parseRecord(row["entry_json"]);
    const all = windowsByKey.get(key) ?? [];
    const windows = currentBranch(all, asText(row["current_session_id"]) ?? "");
    return {
      key,
      title: asText(row["display_name"]) ?? asText(row["label"]) ?? asText(entry["subject"]),
      createdVia: asText(row["created_via"]) ?? asText(entry["createdVia"]),
      entry,
      createdAt: numberOf(row["created_at"]),
      updatedAt: numberOf(row["updated_at"]),
      windows,
      leftBranches: all.length - windows.length,
    };
  });
}

const BRANCH_REASONS = new Set(["fork", "rewind", "switch"]);

/**
 * Returns the windows that lead to the current one. Without branches, these are all windows, because archived windows
 * may have no link to the next one.
 */
function currentBranch(windows: readonly SessionWindow[], current: string): readonly SessionWindow[] {
  if (!windows.some(({ reason }) => BRANCH_REASONS.has(reason ?? ""))) return windows;
  const byId = new Map(windows.map((window) => [window.sessionId, window]));
  const chain: SessionWindow[] = [];
  for (
    let next = byId.get(current);
    next !== undefined && !chain.includes(next);
    next = byId.get(next.previous ?? "")
  )
    chain.unshift(next);
  return chain;
}

function toWindow(
  database: SourceDatabase,
  agentDir: string,
  row: Readonly<Record<string, unknown>>,
): SessionWindow {
  const sessionId = asText(row["session_id"]) ?? "";
  return {
    sessionId,
    startedAt: numberOf(row["created_at"]),
    lastAt: numberOf(row["updated_at"] ?? row["created_at"]),
    previous: asText(row["previous_session_id"]),
    reason: asText(row["reason"]),
    account: asText(row["account_id"]),
    channel: asText(row["channel"]),
    hasExternalContent: asText(row["hook_external_content_source"]) !== undefined,
    events: () => readWindow(database, agentDir, sessionId),
  };
}

/** Returns the events of the active branch of a window. Archived windows are read from their archive. */
function* readWindow(
  database: SourceDatabase,
  agentDir: string,
  sessionId: string,
): Generator<TranscriptEvent> {
  const hasZstd = database.has("transcript_events", ["event_zstd"]);
  const columns = hasZstd ? "e.event_json, e.event_zstd, e.event_utf8_bytes" : "e.event_json";
  let count = 0;
  for (const row of database.iterate(
    `SELECT ${columns} FROM session_transcript_active_events a
     JOIN transcript_events e ON e.session_id = a.session_id AND e.seq = a.event_seq
     WHERE a.session_id = ? ORDER BY a.active_position`,
    sessionId,
  )) {
    count++;
    yield parseEvent(row);
  }
  if (count > 0) return;
  const rows = database.all(
    `SELECT ${columns} FROM transcript_events e WHERE e.session_id = ? ORDER BY e.seq`,
    sessionId,
  );
  if (rows.length > 0) yield* activeBranch(rows.map(parseEvent));
  else yield* activeBranch(readArchive(database, agentDir, sessionId));
}

function parseEvent(row: Readonly<Record<string, unknown>>): TranscriptEvent {
  const zstd = row["event_zstd"];
  if (!(zstd instanceof Uint8Array)) return parseRecord(row["event_json"]);
  const bytes = decompress(zstd);
  const expected = row["event_utf8_bytes"];
  if (typeof expected === "number" && expected !== bytes.length)
    throw new GatewayError("failure", "A compressed event does not have the length that is recorded for it.");
  return parseRecord(new TextDecoder().decode(bytes));
}

/** @throws GatewayError if the content is too large, or if this version of Node.js cannot decompress it */
function decompress(zstd: Uint8Array): Uint8Array {
  if (!("zstdDecompressSync" in zlib))
    throw new GatewayError("failure", "Compressed conversations need Node.js 22.15 or newer.");
  try {
    return zlib.zstdDecompressSync(zstd, { maxOutputLength: MAX_EVENT_BYTES });
  } catch (error) {
    throw new GatewayError(
      "failure",
      `A compressed event is damaged, or larger than ${MAX_EVENT_BYTES} bytes.`,
      {
        cause: error,
      },
    );
  }
}

function readArchive(
  database: SourceDatabase,
  agentDir: string,
  sessionId: string,
): readonly TranscriptEvent[] {
  if (database.has("session_transcript_archives", ["session_id", "encoding", "archive_blob"])) {
    const [row] = database.all(
      "SELECT encoding, archive_blob FROM session_transcript_archives WHERE session_id = ? ORDER BY generation DESC LIMIT 1",
      sessionId,
    );
    const blob = row?.["archive_blob"];
    if (blob instanceof Uint8Array) return parseLines(row?.["encoding"] === "zstd" ? decompress(blob) : blob);
  }
  if (!database.has("session_transcript_cold_archives", ["session_id", "archive_name", "archive_sha256"]))
    return [];
  const [row] = database.all(
    "SELECT * FROM session_transcript_cold_archives WHERE session_id = ? LIMIT 1",
    sessionId,
  );
  if (row === undefined) return [];
  const name = asText(row["archive_name"]) ?? "";
  const file = join(agentDir, "..", "sessions", "cold", name);
  const blob = row["archive_blob"];
  const isName = /^[\w.-]+$/.test(name) && !name.startsWith(".");
  const bytes =
    blob instanceof Uint8Array ? blob : isName && existsSync(file) ? readFileSync(file) : undefined;
  if (bytes === undefined) return [];
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (asText(row["archive_sha256"]) !== sha256)
    throw new GatewayError("failure", `The archive ${name} does not match its checksum.`);
  return parseLines(name.endsWith(".zst") || bytes[0] === 0x28 ? decompress(bytes) : bytes);
}

function parseLines(bytes: Uint8Array): readonly TranscriptEvent[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .flatMap((line) => (line.trim() === "" ? [] : [parseRecord(line)]));
}

/** Returns the events from the first one to the last one, by their parents. */
function activeBranch(events: readonly TranscriptEvent[]): readonly TranscriptEvent[] {
  const byId = new Map(
    events.flatMap((event) => {
      const id = asText(event["id"]);
      return id === undefined || event["type"] === "session" ? [] : [[id, event] as const];
    }),
  );
  const branch: TranscriptEvent[] = [];
  const seen = new Set<string>();
  let id = asText(
    events.findLast((event) => byId.has(asText(event["id"]) ?? "") && event["type"] !== "session")?.["id"],
  );
  while (id !== undefined && !seen.has(id)) {
    seen.add(id);
    const event = byId.get(id);
    if (event === undefined) break;
    branch.push(event);
    id = asText(event["parentId"]);
  }
  return branch.reverse();
}

/** Returns the sessions of an agent from the files of versions before 2026.7. */
export function readFileSessions(sessionsDir: string): readonly SourceSession[] {
  const index = join(sessionsDir, "sessions.json");
  if (!existsSync(index)) return [];
  return Object.entries(parseRecord(readFileSync(index, "utf8"))).map(([key, value]): SourceSession => {
    const entry = asRecord(value) ?? {};
    const sessionId = asText(entry["sessionId"]) ?? "";
    const updatedAt = numberOf(entry["updatedAt"]);
    const file = findTranscript(sessionsDir, entry, sessionId);
    return {
      key,
      title: asText(entry["displayName"]) ?? asText(entry["subject"]),
      createdVia: asText(entry["createdVia"]) ?? "channel",
      entry,
      createdAt: numberOf(entry["createdAt"] ?? entry["sessionStartedAt"] ?? entry["updatedAt"]),
      updatedAt,
      windows:
        file === undefined
          ? []
          : [
              {
                sessionId,
                startedAt: numberOf(entry["sessionStartedAt"] ?? entry["updatedAt"]),
                lastAt: updatedAt,
                previous: undefined,
                reason: undefined,
                account: asText(entry["lastAccountId"]),
                channel: asText(entry["channel"]) ?? asText(entry["lastChannel"]),
                hasExternalContent: false,
                events: () => activeBranch(parseLines(readFileSync(file))),
              },
            ],
      leftBranches: 0,
    };
  });
}

function findTranscript(
  dir: string,
  entry: Readonly<Record<string, unknown>>,
  sessionId: string,
): string | undefined {
  const named = asText(entry["sessionFile"])?.split("/").at(-1);
  return [named, `${sessionId}.jsonl`]
    .flatMap((name) => (name !== undefined && /^[\w.-]+\.jsonl$/.test(name) ? [join(dir, name)] : []))
    .find((file) => existsSync(file));
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
