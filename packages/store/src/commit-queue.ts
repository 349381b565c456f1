import type Sqlite from "better-sqlite3";
import type { Database } from "./database.ts";
import { isBusy, toStoreError } from "./driver-errors.ts";
import { StoreError } from "./errors.ts";
import type { Logger } from "./types/logger.ts";

/** Syncs the log. Everything committed before the call survives a power failure. */
type SyncLog = () => Promise<void>;

export interface CommitQueueOptions {
  readonly database: Database;
  /** Syncs the log after a commit. Absent for in-memory databases. */
  readonly syncLog?: SyncLog;
  /** Maximum time between two commits under load, in milliseconds. */
  readonly spacingMs: number;
  /** Runs between two batches, for checkpoints. Errors are only logged. */
  readonly afterBatch?: () => Promise<void>;
  readonly logger?: Pick<Logger, "warn">;
}

export interface CommitQueue {
  /**
   * Runs `work` in a transaction that concurrent calls share. A savepoint isolates each call: if `work` throws, only
   * its own writes are rolled back. Resolves once the transaction is durable.
   */
  write<R>(work: () => R, manner?: Manner): Promise<R>;
  /**
   * Like {@link write}, but resolves after the commit, before the sync. The caller can continue and await `onDisk`
   * later.
   */
  writeAhead<R>(work: () => R): Promise<Ahead<R>>;
  /** Runs `work` immediately, on the last committed state. */
  read<R>(work: () => R): Promise<R>;
  /**
   * Changes with every transaction and every rolled-back call. Values read under one number stay valid until the number
   * changes.
   */
  readonly transaction: number;
  /** Changes with every transaction. */
  readonly batch: number;
  /** Suspends the lock timeout while `work` holds a lock on another connection. */
  whileLocked<R>(work: () => Promise<R>): Promise<R>;
  readonly counts: { readonly commits: number; readonly calls: number; readonly syncs: number };
  /** Resolves when no call is pending. Later calls reject with `closed`. */
  close(): Promise<void>;
}

/** The result of a transaction that is committed but not yet synced. */
interface Ahead<R> {
  readonly result: R;
  /** Resolves once the transaction is synced. */
  readonly onDisk: Promise<void>;
}

/**
 * `patient`: waits briefly for another call to share its commit. `unsynced`: resolves after the commit. The commit
 * survives a killed process. Until a later call is synced, a power failure may undo this commit, but no earlier one.
 */
type Manner = "patient" | "unsynced";

interface Call {
  readonly manner: Manner | undefined;
  run(): void;
  /** Called after the commit, before the sync. */
  committed?(): void;
  /** Called once, with an error if the call failed. */
  done(error?: unknown): void;
}

/** Maximum time for which a batch blocks the event loop, in milliseconds. The remaining calls run in the next batch. */
const maxHoldMs = 5;
/** Time limit for waiting for another process's transaction, and the interval between attempts, in milliseconds. */
const maxLockedMs = 10_000;
const lockedRetryMs = 5;
/** Maximum wait of a patient call, in milliseconds. */
const patienceMs = 10;
/** Call rates per second at which commit spacing begins and at which it reaches its maximum. */
const spacingFrom = 500;
const spacingFull = 1500;
/** Half-life of the measured call rate, in milliseconds. */
const rateHalfLifeMs = 100;
/** Weight of the latest batch in the average batch size. */
const sizeWeight = 1 / 16;
/** Average batch size at which spacing applies in full. Spacing only helps concurrent calls. */
const sizeFull = 1.5;

/**
 * Implements group commit. Calls in one turn of the event loop, and calls that arrive during a sync, share one
 * transaction and one sync. The sync runs on libuv's thread pool, so only the statements block the event loop. Under
 * load, commits are spaced a few milliseconds apart, so that a page changed by several messages is written once.
 * Sequential calls are never delayed.
 */
export function commitQueue(options: CommitQueueOptions): CommitQueue {
  return new BatchingQueue(options);
}

class BatchingQueue implements CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #raw: Sqlite.Database;
  readonly #begin: Sqlite.Statement;
  readonly #commit: Sqlite.Statement;
  readonly #rollback: Sqlite.Statement;
  readonly #savepoint: Sqlite.Statement;
  readonly #release: Sqlite.Statement;
  readonly #undo: Sqlite.Statement;
  readonly #totalChanges: Sqlite.Statement<[], number>;
  readonly #spacing: Spacing;
  #waiting: Call[] = [];
  #running = false;
  #syncing = false;
  #closed = false;
  #broken: unknown;
  readonly #idle: (() => void)[] = [];
  #lastStart = 0;
  #lockedSince: number | undefined;
  #lockedByUs = 0;
  #patience: NodeJS.Timeout | undefined;
  /** Total changes on the connection. Only batches write through it. */
  #changes: number | undefined;
  #transaction = 0;
  #batch = 0;
  readonly counts = { commits: 0, calls: 0, syncs: 0 };

  constructor(options: CommitQueueOptions) {
    this.#options = options;
    this.#spacing = new Spacing(options.spacingMs);
    this.#raw = options.database.raw;
    this.#begin = this.#raw.prepare("BEGIN IMMEDIATE");
    this.#commit = this.#raw.prepare("COMMIT");
    this.#rollback = this.#raw.prepare("ROLLBACK");
    this.#savepoint = this.#raw.prepare("SAVEPOINT call");
    this.#release = this.#raw.prepare("RELEASE call");
    this.#undo = this.#raw.prepare("ROLLBACK TO call");
    this.#totalChanges = this.#raw.prepare<[], number>("SELECT total_changes()").pluck();
    this.#changes = this.#totalChanges.get();
  }

  write<R>(work: () => R, manner?: Manner): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      let settle = () => {};
      this.#call({
        manner,
        run() {
          const result = work();
          settle = () => resolve(result);
        },
        done: (error) => (error === undefined ? settle() : reject(error)),
      });
    });
  }

  writeAhead<R>(work: () => R): Promise<Ahead<R>> {
    const { promise: onDisk, resolve: isOnDisk, reject: isLost } = Promise.withResolvers<void>();
    // If the caller ignores `onDisk`, its next call reports the error.
    onDisk.catch(() => {});
    return new Promise<Ahead<R>>((resolve, reject) => {
      let settle = () => {};
      this.#call({
        manner: undefined,
        run() {
          const result = work();
          settle = () => resolve({ result, onDisk });
        },
        committed: () => settle(),
        done(error) {
          if (error === undefined) return isOnDisk();
          isLost(error);
          reject(error);
        },
      });
    });
  }

  #call(call: Call): void {
    const refused = this.#refusal();
    if (refused !== undefined) {
      call.done(refused);
      return;
    }
    this.#spacing.called();
    this.counts.calls += 1;
    this.#waiting.push(call);
    if (call.manner !== "patient") this.#schedule();
    else if (!this.#running) this.#patience ??= setTimeout(() => this.#schedule(), patienceMs);
    if (this.#syncing && call.manner === "unsynced") setImmediate(() => this.#runBesideSync());
  }

  async read<R>(work: () => R): Promise<R> {
    const refused = this.#refusal();
    if (refused !== undefined) throw refused;
    try {
      return work();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  get transaction(): number {
    return this.#transaction;
  }

  get batch(): number {
    return this.#batch;
  }

  async whileLocked<R>(work: () => Promise<R>): Promise<R> {
    this.#lockedByUs += 1;
    try {
      return await work();
    } finally {
      this.#lockedByUs -= 1;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#schedule();
    if (this.#running || this.#waiting.length > 0)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#running || this.#waiting.length === 0) return;
    this.#running = true;
    clearTimeout(this.#patience);
    this.#patience = undefined;
    const now = performance.now();
    const wait = this.#closed ? 0 : this.#lastStart + this.#spacing.at(now) - now;
    if (wait >= 1) setTimeout(() => this.#runBatch(), wait);
    else setImmediate(() => this.#runBatch());
  }

  /**
   * Runs pending calls in one transaction until the time limit. Returns the calls with their errors, or undefined if
   * another process holds the lock.
   */
  #transact(): Map<Call, unknown> | undefined {
    try {
      this.#begin.run();
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
    this.#transaction += 1;
    this.#batch += 1;
    const outcomes = new Map<Call, unknown>();
    const calls = this.#waiting;
    try {
      const until = performance.now() + maxHoldMs;
      for (const call of calls) {
        if (outcomes.size > 0 && performance.now() > until) break;
        outcomes.set(call, undefined);
        this.#savepoint.run();
        try {
          call.run();
        } catch (error) {
          // If the disk is full, SQLite may roll back the whole transaction.
          if (!this.#raw.inTransaction) throw error;
          outcomes.set(call, toStoreError(error));
          this.#undo.run();
          this.#transaction += 1;
        }
        this.#release.run();
      }
      this.#options.database.fault("commit");
      this.#commit.run();
    } catch (error) {
      if (this.#raw.inTransaction) this.#rollback.run();
      const failure = toStoreError(error);
      for (const [call, own] of outcomes) outcomes.set(call, own ?? failure);
    }
    this.#waiting = calls.slice(outcomes.size);
    return outcomes;
  }

  /** Like {@link #transact}, but fails every pending call if the transaction cannot begin. */
  #transactOrFail(): Map<Call, unknown> | undefined {
    try {
      return this.#transact();
    } catch (error) {
      const failed = this.#waiting.splice(0);
      return new Map(failed.map((call) => [call, toStoreError(error)]));
    }
  }

  /** Returns whether the transaction changed anything. */
  #countCommit(): boolean {
    const changesNow = this.#totalChanges.get();
    if (changesNow === this.#changes) return false;
    this.#changes = changesNow;
    this.counts.commits += 1;
    return true;
  }

  /** Commits unsynced calls during a sync, unless commits are spaced or other calls are pending. */
  #runBesideSync(): void {
    if (!this.#syncing || this.#spacing.at(performance.now()) > 0) return;
    if (this.#waiting.length === 0 || this.#waiting.some(({ manner }) => manner !== "unsynced")) return;
    const outcomes = this.#transactOrFail();
    if (outcomes === undefined) return;
    this.#countCommit();
    for (const [call, error] of outcomes) call.done(error);
  }

  async #runBatch(): Promise<void> {
    const start = performance.now();
    this.#lastStart = start;
    let outcomes = this.#transactOrFail();
    if (outcomes === undefined) {
      this.#lockedSince ??= start;
      if (this.#lockedByUs > 0 || start - this.#lockedSince < maxLockedMs) {
        setTimeout(() => this.#runBatch(), lockedRetryMs);
        return;
      }
      const failure = new StoreError("locked", "Another process kept the database locked for too long.");
      outcomes = new Map(this.#waiting.map((call) => [call, failure]));
      this.#waiting = [];
    }
    this.#lockedSince = undefined;
    const eager = [...outcomes.keys()].filter(({ manner }) => manner !== "patient").length;
    if (eager > 0) this.#spacing.committed(eager);

    for (const [call, error] of outcomes) if (error === undefined) call.committed?.();
    if (this.#countCommit()) {
      for (const [call, error] of outcomes) {
        if (call.manner !== "unsynced") continue;
        call.done(error);
        outcomes.delete(call);
      }
      if (outcomes.size > 0) await this.#sync(outcomes);
    }
    for (const [call, error] of outcomes) call.done(error);
    await this.#tendTheLog();
    this.#running = false;
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Failures are only logged: the calls have completed, and the next batch retries. */
  async #tendTheLog(): Promise<void> {
    try {
      await this.#options.afterBatch?.();
    } catch (error) {
      this.#options.logger?.warn({ error: String(error) }, "the database's log could not be maintained");
    }
  }

  async #sync(outcomes: Map<Call, unknown>): Promise<void> {
    const { syncLog, database } = this.#options;
    if (syncLog === undefined) return;
    this.#syncing = true;
    try {
      database.fault("sync");
      this.counts.syncs += 1;
      await syncLog();
    } catch (cause) {
      // After a failed fsync, the content of the disk is unknown. Linux reports the error only once, so a second fsync
      // would succeed without writing anything. The file must be reopened.
      this.#broken = new StoreError("io", "The database could not be synced to the disk. Open it again.", {
        cause,
      });
      for (const call of outcomes.keys()) outcomes.set(call, this.#broken);
      for (const call of this.#waiting.splice(0)) outcomes.set(call, this.#broken);
    } finally {
      this.#syncing = false;
    }
  }

  #refusal(): unknown {
    return this.#broken ?? (this.#closed ? new StoreError("closed", "The store is closed.") : undefined);
  }
}

/** Computes the time between commits from the call rate and the average batch size. */
class Spacing {
  readonly #widestMs: number;
  #rate = 0;
  #rateAt: number = performance.now();
  #usualSize = 1;

  constructor(widestMs: number) {
    this.#widestMs = widestMs;
  }

  called(): void {
    this.#rate += 1;
  }

  /** Records the size of a committed batch. */
  committed(calls: number): void {
    this.#usualSize += (calls - this.#usualSize) * sizeWeight;
  }

  /** Returns the time between commits, in milliseconds. */
  at(now: number): number {
    this.#rate *= 0.5 ** ((now - this.#rateAt) / rateHalfLifeMs);
    this.#rateAt = now;
    const callsPerSecond = (this.#rate * Math.LN2 * 1000) / rateHalfLifeMs;
    const load = (callsPerSecond - spacingFrom) / (spacingFull - spacingFrom);
    const company = (this.#usualSize - 1) / (sizeFull - 1);
    return Math.max(0, Math.min(load, 1)) * Math.min(company, 1) * this.#widestMs;
  }
}
