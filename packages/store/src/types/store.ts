import type { AccessStore } from "./access.ts";
import type { ApprovalStore } from "./approvals.ts";
import type { AuditStore } from "./audit.ts";
import type { BudgetStore } from "./budgets.ts";
import type { Bodies, Millis } from "./common.ts";
import type { InboxStore } from "./inbox.ts";
import type { LeaseStore } from "./leases.ts";
import type { OutboxState, OutboxStore } from "./outbox.ts";
import type { RunStore, UsageStore } from "./runs.ts";
import type { SessionStore } from "./sessions.ts";
import type {
  GroupHistoryStore,
  KvStore,
  MessageContextStore,
  PairingStore,
  RouteCacheStore,
  TraceStore,
} from "./side.ts";

/** How long things are kept, in milliseconds. What is unfinished is never pruned, nor what an unsent reply answers. */
export interface Retention {
  /** Ended inbox rows with their payload. Default 7 days. */
  readonly inboxMs?: number;
  /** Keys against redelivery. Default 14 days, never less than 7. */
  readonly dedupeMs?: number;
  /** Ended runs and their journals (usage stays, summed by day). Default 30 days. */
  readonly runsMs?: number;
  /** Sent, dropped and given-up outbox rows. Default 14 days. */
  readonly outboxMs?: number;
  /** Default 7 days. */
  readonly tracesMs?: number;
  /** Trace rows kept at most, the newest; a row holds what was said of a message in one moment. Default 200,000. */
  readonly traceRows?: number;
  /** Bytes of traces kept at most, the newest. Default 256 MiB. */
  readonly traceBytes?: number;
  /** Questions about tool calls, with what was decided. Default 90 days. */
  readonly approvalsMs?: number;
  /**
   * Messages of earlier generations and before a compaction, and what was said in groups unaddressed. Default 90 days.
   */
  readonly hiddenMessagesMs?: number;
  /** Whole sessions without activity; never one that has something under way. Default: kept for ever. */
  readonly idleSessionsMs?: number;
  /** Sessions kept at most, those with the latest activity. Default: all. */
  readonly sessions?: number;
  /**
   * Bytes in use beyond which traces, journals, hidden messages and ended rows go sooner than their time, down to a
   * 256th of it. Default: no limit.
   */
  readonly databaseBytes?: number;
}

export interface PruneReport {
  readonly inbox: number;
  readonly dedupe: number;
  readonly runs: number;
  readonly outbox: number;
  readonly traces: number;
  readonly messages: number;
  readonly sessions: number;
  readonly kv: number;
  readonly approvals: number;
  /** In use afterwards. */
  readonly usedBytes: number;
}

/** What is under way, and what was done since the store was opened. */
export interface StoreStats {
  /** Unfinished messages by state. */
  readonly inbox: Readonly<Record<"accepted" | "queued" | "running", number>>;
  /** Replies that were not sent, by state. */
  readonly outbox: Readonly<Record<Exclude<OutboxState, "sent">, number>>;
  readonly sessions: number;
  /** Messages of all sessions, those pruned included. */
  readonly messages: number;
  readonly runsActive: number;
  /** Since the store was opened. */
  readonly commits: number;
  readonly calls: number;
  readonly syncs: number;
}

export interface MaintenanceStore {
  /** Removes what is older than its retention, in short transactions between other people's calls. */
  prune(retention?: Retention): Promise<PruneReport>;
  stats(): Promise<StoreStats>;
}

/** The file of a database. */
export interface StoreFile {
  readonly path: string;
  /** Of the schema. */
  readonly version: number;
  readonly fileBytes: number;
  /** Of the write-ahead log; 0 where the store only reads. */
  readonly walBytes: number;
  /** Used again before the file grows. */
  readonly freeBytes: number;
}

/**
 * What is to be done about a database that is a file: of SQLite alone, and of no interface that a gateway works with.
 */
export interface StoreAdmin {
  file(): Promise<StoreFile>;
  /**
   * Gives free pages back to the file system; they are used again without it. Runs on a thread of its own: reading goes
   * on, and writes wait until it is done (about a second for every 200 MB that stay). Needs as much free disk.
   */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /**
   * One committed state in a file of its own (mode 0600), compact, synced and looked through for damage, made on a
   * thread of its own while everybody goes on: nobody waits, and writes of other processes do not make it begin anew.
   * The log grows until it is done. The file must not exist; where something fails there is none.
   */
  backup(toPath: string): Promise<{ readonly bytes: number }>;
  /** Looks through the whole file; holds the event loop while it does. */
  integrity(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  /**
   * Prepares every statement. Each is prepared by itself when it is first used, so that opening costs little; a service
   * calls this once it is up, and its first calls wait no longer than later ones.
   */
  prepare(): Promise<void>;
  /** Copies the write-ahead log into the database file. Happens by itself. */
  checkpoint(): Promise<void>;
}

/**
 * Everything a gateway keeps. Each method is one transaction; a promise of a write resolves after its commit is on
 * the disk. A store knows its clock (`openStore({ clock })`): times that are not given are taken from there.
 */
export interface Store<T extends Bodies = Bodies> {
  readonly inbox: InboxStore<T>;
  readonly sessions: SessionStore<T>;
  readonly runs: RunStore<T>;
  readonly usage: UsageStore;
  readonly budgets: BudgetStore;
  readonly leases: LeaseStore;
  readonly outbox: OutboxStore<T>;
  readonly routes: RouteCacheStore;
  readonly groupHistory: GroupHistoryStore;
  readonly contexts: MessageContextStore;
  readonly kv: KvStore;
  readonly pairing: PairingStore<T>;
  readonly access: AccessStore;
  readonly audit: AuditStore;
  readonly approvals: ApprovalStore<T>;
  readonly traces: TraceStore;
  readonly maintenance: MaintenanceStore;
  /** Commits what is under way, then closes. Calls after it reject with `closed`. May be called twice. */
  close(): Promise<void>;
}

/** A store in one SQLite file. */
export interface SqliteStore<T extends Bodies = Bodies> extends Store<T> {
  readonly admin: StoreAdmin;
}

/**
 * `own`: the file is made if absent and brought to this version. `share`: it is there, and somebody else may own it:
 * read and written, but refused where it is of another version. `read`: as `share`, without writing; what writes
 * rejects with `invalid`.
 */
export type StoreAccess = "own" | "share" | "read";

export interface StoreLimits {
  /** Unfinished inbox rows beyond which `accept` gives `full`. Default 10,000. */
  readonly inbox?: number;
  /**
   * How far apart commits are made under load (hundreds of calls a second, side by side), in milliseconds. More: fewer
   * bytes and write calls for each message; less: sooner committed. Default 16; 0 never waits.
   */
  readonly commitSpacingMs?: number;
}

/** One line of the store's own log. */
export interface StoreLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** A point at which a test may make the store fail: throw there. */
export type FaultPoint = "write" | "commit" | "sync";

export interface StoreOptions {
  /** The database file, made if absent in an existing folder; `:memory:` for one that lives in memory only. */
  readonly path: string;
  /** Default `own`. */
  readonly access?: StoreAccess;
  /** Default `Date.now`. */
  readonly clock?: () => Millis;
  /** A number in [0, 1) for ids. Default from the system's cryptographic source. */
  readonly random?: () => number;
  readonly limits?: StoreLimits;
  /** Told of a migration, and of what was survived, such as a checkpoint that failed. Default: nobody. */
  readonly logger?: StoreLogger;
  /**
   * For tests: called before every statement that writes, before every commit and before every sync of the
   * log. An error it throws takes the place of what SQLite would have done.
   */
  readonly faults?: (point: FaultPoint) => void;
}
