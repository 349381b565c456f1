import type Sqlite from "better-sqlite3";
import type { Database } from "./database.ts";
import { isBusy, toStoreError } from "./driver-errors.ts";
import { StoreError } from "./errors.ts";
import type { Logger } from "./types/logger.ts";

/** Makes everything committed so far survive a loss of power. */
type SyncLog = () => Promise<void>;

export interface CommitQueueOptions {
  readonly database: Database;
  /** Syncs the log after a commit. Without: the database lives in memory. */
  readonly syncLog?: SyncLog;
  /** The widest spacing of commits under load. */
  readonly spacingMs: number;
  /** Runs after a batch is on the disk and before the next begins; for checkpoints. What it throws is only logged. */
  readonly afterBatch?: () => Promise<void>;
  readonly logger?: Pick<Logger, "warn">;
}

export interface CommitQueue {
  /**
   * Runs `work` in a transaction that it shares with its neighbours, isolated by a savepoint: when it throws, only
   * its own writes are undone. Resolves once the transaction is on the disk.
   */
  write<R>(work: () => R, manner?: Manner): Promise<R>;
  /** The same, but resolves with the commit: what may begin meanwhile does not wait for the disk. */
  writeAhead<R>(work: () => R): Promise<Ahead<R>>;
  /** Runs `work` now, on the last committed state. */
  read<R>(work: () => R): Promise<R>;
  /** Changes with every transaction and every undone call: what was read under one number holds until the next. */
  readonly transaction: number;
  /** Changes with every transaction. */
  readonly batch: number;
  /** While `work` keeps the database locked from elsewhere, calls wait for as long as it takes. */
  whileLocked<R>(work: () => Promise<R>): Promise<R>;
  readonly counts: { readonly commits: number; readonly calls: number; readonly syncs: number };
  /** Resolves when nothing waits; afterwards calls reject with `closed`. */
  close(): Promise<void>;
}

/** What a transaction gave that is not yet on the disk. */
interface Ahead<R> {
  readonly result: R;
  /** Resolves once it is. */
  readonly onDisk: Promise<void>;
}

/**
 * `patient`: waits a moment for others to share the commit with. `unsynced`: resolves with the commit. A process that
 * is killed leaves it behind; a loss of power may take it, and nothing before it, until a later call is synced.
 */
type Manner = "patient" | "unsynced";

interface Call {
  readonly manner: Manner | undefined;
  run(): void;
  /** Called when it is committed, which may be before it is on the disk. */
  committed?(): void;
  /** Only called once; with an error or, when it went well, without. */
  done(error?: unknown): void;
}

/** How long a batch may hold the event loop before the rest waits for the next one. */
const maxHoldMs = 5;
/** How long writers wait for another process's transaction, and how often they look. */
const maxLockedMs = 10_000;
const lockedRetryMs = 5;
/** How long a patient call waits for company. */
const patienceMs = 10;
/** Calls a second from which on commits are spaced out, and where they reach the widest spacing. */
const spacingFrom = 500;
const spacingFull = 1500;
/** The weight of the past in the rate halves in this time. */
const rateHalfLifeMs = 100;
/** The weight of the newest batch in the usual size of one. */
const sizeWeight = 1 / 16;
/** Spacing pays where calls come side by side. From this usual size on it is applied in full. */
const sizeFull = 1.5;

/**
 * Group commit. Calls of one turn of the event loop, and calls that come while a batch is being synced, share one
 * transaction and one sync. The sync runs on libuv's thread pool, so that the event loop is held for the statements
 * only. Under load commits are spaced out by some milliseconds: a page that several messages change is then written
 * once. Calls that come one after the other, each waiting for the one before, are never held up.
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
  /** Of the connection, which only batches write by. */
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
    // Whoever does not wait for the disk hears of its failure with the next call.
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

  /** Runs calls in one transaction until none is left or the time is up; the calls it ran, with their errors. */
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
          // A full disk can make SQLite give up the whole transaction.
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

  /** As {@link #transact}; where not even that could begin, all that wait fail. */
  #transactOrFail(): Map<Call, unknown> | undefined {
    try {
      return this.#transact();
    } catch (error) {
      const failed = this.#waiting.splice(0);
      return new Map(failed.map((call) => [call, toStoreError(error)]));
    }
  }

  /** Whether they changed anything. */
  #countCommit(): boolean {
    const changesNow = this.#totalChanges.get();
    if (changesNow === this.#changes) return false;
    this.#changes = changesNow;
    this.counts.commits += 1;
    return true;
  }

  /** What is not synced anyway does not wait for a sync, unless commits are spaced out or others wait as well. */
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

  /** The calls have their answers by now: what fails here is tried again after the next batch. */
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
      // After a failed sync nobody knows what is on the disk, and asking again would be answered with a lie: only
      // reading the file anew tells.
      this.#broken = new StoreError("io", "The database could not be synced to the disk: open it again.", {
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

/** How far apart commits are, by how many calls there are and whether they come side by side. */
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

  /** A batch of so many calls is on the disk. */
  committed(calls: number): void {
    this.#usualSize += (calls - this.#usualSize) * sizeWeight;
  }

  /** In milliseconds. */
  at(now: number): number {
    this.#rate *= 0.5 ** ((now - this.#rateAt) / rateHalfLifeMs);
    this.#rateAt = now;
    const callsPerSecond = (this.#rate * Math.LN2 * 1000) / rateHalfLifeMs;
    const load = (callsPerSecond - spacingFrom) / (spacingFull - spacingFrom);
    const company = (this.#usualSize - 1) / (sizeFull - 1);
    return Math.max(0, Math.min(load, 1)) * Math.min(company, 1) * this.#widestMs;
  }
}
