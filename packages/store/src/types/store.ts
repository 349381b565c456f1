import type { AccessStore } from "./access.ts";
import type { StoreAdmin } from "./admin.ts";
import type { ApprovalStore } from "./approvals.ts";
import type { AuditLog } from "./audit.ts";
import type { BudgetStore } from "./budgets.ts";
import type { Bodies, Millis } from "./common.ts";
import type { MessageContextStore } from "./contexts.ts";
import type { Hints } from "./hints.ts";
import type { GroupHistoryStore } from "./history.ts";
import type { InboxStore } from "./inbox.ts";
import type { KvStore } from "./kv.ts";
import type { LeaseStore } from "./leases.ts";
import type { LiveEventStore } from "./live-events.ts";
import type { Logger } from "./logger.ts";
import type { MaintenanceStore } from "./maintenance.ts";
import type { NodeStore } from "./nodes.ts";
import type { ObjectStore } from "./objects.ts";
import type { OutboxStore } from "./outbox.ts";
import type { PairingStore } from "./pairing.ts";
import type { RouteCacheStore } from "./routes.ts";
import type { RunStore } from "./runs.ts";
import type { SessionStore } from "./sessions.ts";
import type { TraceStore } from "./traces.ts";
import type { UsageStore } from "./usage.ts";

/**
 * Persistent state of a gateway. Each method is one transaction. The promise of a write resolves after its commit is
 * durable. Default times come from the store's clock (`openStore({ clock })`).
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
  readonly nodes: NodeStore;
  readonly pairing: PairingStore<T>;
  readonly access: AccessStore;
  readonly audit: AuditLog;
  readonly approvals: ApprovalStore<T>;
  readonly traces: TraceStore;
  readonly maintenance: MaintenanceStore;
  readonly hints: Hints;
  /** True if several gateways may use the store at the same time. */
  readonly isShared: boolean;
  /** Present if the store is shared. */
  readonly liveEvents?: LiveEventStore;
  /** Files that belong to no table. Present if the store is shared. */
  readonly objects?: ObjectStore;
  /** Commits pending writes, then closes the store. Later calls reject with `closed`. Can be called more than once. */
  close(): Promise<void>;
}

/** A store in any database. `admin` is present if the database is an SQLite file. */
export interface AnyStore<T extends Bodies = Bodies> extends Store<T> {
  readonly admin?: StoreAdmin;
}

/** A store in one SQLite file. */
export interface SqliteStore<T extends Bodies = Bodies> extends Store<T> {
  readonly admin: StoreAdmin;
}

/**
 * `own`: creates the file if it does not exist and migrates it to this version. `share`: reads and writes a file that
 * another process may own, and refuses a file of another version. `read`: like `share`, but read-only; writes reject
 * with `invalid`.
 */
export type StoreAccess = "own" | "share" | "read";

export interface StoreLimits {
  /** Maximum number of unfinished inbox rows. Once it is reached, `accept` returns `full`. Default: 10,000. */
  readonly inbox?: number;
  /**
   * Maximum time between commits under load (hundreds of concurrent calls per second), in milliseconds. Higher values
   * write fewer bytes per message, and lower values commit sooner. 0 disables spacing. Default: 16.
   */
  readonly commitSpacingMs?: number;
}

/** A point at which a test can make the store fail by throwing an error. */
export type FaultPoint = "write" | "commit" | "sync";

export interface StoreOptions {
  /**
   * The path of the database file. The file is created if it does not exist, but its folder must exist. `:memory:`
   * opens an in-memory database.
   */
  readonly path: string;
  /** Default `own`. */
  readonly access?: StoreAccess;
  /** Default `Date.now`. */
  readonly clock?: () => Millis;
  /** Returns a number in [0, 1) for ids. Default: the system's cryptographic source. */
  readonly random?: () => number;
  readonly limits?: StoreLimits;
  /** Logs migrations and harmless failures, such as a failed checkpoint. Default: none. */
  readonly logger?: Pick<Logger, "info" | "warn">;
  /** For tests. Called before every write, commit and log sync. If it throws, the operation fails with that error. */
  readonly faults?: (point: FaultPoint) => void;
}
