import type { Database } from "./database.ts";
import { isBusy, toStoreError } from "./driver-errors.ts";
import { StoreError } from "./errors.ts";
import type { StoreLogger } from "./types/store.ts";

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
  readonly logger?: StoreLogger;
}

export interface CommitQueue {
  /**
   * Runs `work` in a transaction that it shares with its neighbours, isolated by a savepoint: when it throws, only
   * its own writes are undone. Resolves once the transaction is on the disk. A `patient` call waits a moment for
   * others to share the commit with.
   */
  write<R>(work: () => R, manner?: "patient"): Promise<R>;
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

interface Call {
  readonly patient: boolean;
  run(): void;
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
  const { database, syncLog } = options;
  const { raw } = database;
  const begin = raw.prepare("BEGIN IMMEDIATE");
  const commit = raw.prepare("COMMIT");
  const rollback = raw.prepare("ROLLBACK");
  const savepoint = raw.prepare("SAVEPOINT call");
  const release = raw.prepare("RELEASE call");
  const undo = raw.prepare("ROLLBACK TO call");
  const totalChanges = raw.prepare<[], number>("SELECT total_changes()").pluck();

  let waiting: Call[] = [];
  let running = false;
  let closed = false;
  let broken: unknown;
  const idle: (() => void)[] = [];
  let lastStart = 0;
  let lockedSince: number | undefined;
  let lockedByUs = 0;
  let rate = 0;
  let rateAt = performance.now();
  let usualSize = 1;
  let patience: NodeJS.Timeout | undefined;
  /** Of the connection, which only batches write by. */
  let changes = totalChanges.get();
  let transaction = 0;
  let batch = 0;
  const counts = { commits: 0, calls: 0, syncs: 0 };

  function spacing(now: number): number {
    rate *= 0.5 ** ((now - rateAt) / rateHalfLifeMs);
    rateAt = now;
    const callsPerSecond = (rate * Math.LN2 * 1000) / rateHalfLifeMs;
    const load = (callsPerSecond - spacingFrom) / (spacingFull - spacingFrom);
    const company = (usualSize - 1) / (sizeFull - 1);
    return Math.max(0, Math.min(load, 1)) * Math.min(company, 1) * options.spacingMs;
  }

  function schedule(): void {
    if (running || waiting.length === 0) return;
    running = true;
    clearTimeout(patience);
    patience = undefined;
    const now = performance.now();
    const wait = closed ? 0 : lastStart + spacing(now) - now;
    if (wait >= 1) setTimeout(runBatch, wait);
    else setImmediate(runBatch);
  }

  /** Runs calls in one transaction until none is left or the time is up; the calls it ran, with their errors. */
  function transact(): Map<Call, unknown> | undefined {
    try {
      begin.run();
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
    transaction += 1;
    batch += 1;
    const outcomes = new Map<Call, unknown>();
    const calls = waiting;
    try {
      const until = performance.now() + maxHoldMs;
      for (const call of calls) {
        if (outcomes.size > 0 && performance.now() > until) break;
        outcomes.set(call, undefined);
        savepoint.run();
        try {
          call.run();
        } catch (error) {
          // A full disk can make SQLite give up the whole transaction.
          if (!raw.inTransaction) throw error;
          outcomes.set(call, toStoreError(error));
          undo.run();
          transaction += 1;
        }
        release.run();
      }
      database.fault("commit");
      commit.run();
    } catch (error) {
      if (raw.inTransaction) rollback.run();
      const failure = toStoreError(error);
      for (const [call, own] of outcomes) outcomes.set(call, own ?? failure);
    }
    waiting = calls.slice(outcomes.size);
    return outcomes;
  }

  async function runBatch(): Promise<void> {
    const start = performance.now();
    lastStart = start;
    let outcomes: Map<Call, unknown> | undefined;
    try {
      outcomes = transact();
    } catch (error) {
      const failed = waiting;
      waiting = [];
      outcomes = new Map(failed.map((call) => [call, toStoreError(error)]));
    }
    if (outcomes === undefined) {
      lockedSince ??= start;
      if (lockedByUs > 0 || start - lockedSince < maxLockedMs) {
        setTimeout(runBatch, lockedRetryMs);
        return;
      }
      const failure = new StoreError("locked", "Another process kept the database locked for too long.");
      outcomes = new Map(waiting.map((call) => [call, failure]));
      waiting = [];
    }
    lockedSince = undefined;
    const eager = [...outcomes.keys()].filter((call) => !call.patient).length;
    if (eager > 0) usualSize += (eager - usualSize) * sizeWeight;

    const changesNow = totalChanges.get();
    if (changesNow !== changes) {
      changes = changesNow;
      counts.commits += 1;
      await sync(outcomes);
    }
    for (const [call, error] of outcomes) call.done(error);
    await tendTheLog();
    running = false;
    if (waiting.length > 0) schedule();
    else for (const resolve of idle.splice(0)) resolve();
  }

  /** The calls have their answers by now: what fails here is tried again after the next batch. */
  async function tendTheLog(): Promise<void> {
    try {
      await options.afterBatch?.();
    } catch (error) {
      options.logger?.warn({ error: String(error) }, "the database's log could not be looked after");
    }
  }

  async function sync(outcomes: Map<Call, unknown>): Promise<void> {
    if (syncLog === undefined) return;
    try {
      database.fault("sync");
      counts.syncs += 1;
      await syncLog();
    } catch (cause) {
      // After a failed sync nobody knows what is on the disk, and asking again would be answered with a lie: only
      // reading the file anew tells.
      broken = new StoreError("io", "The database could not be synced to the disk: open it again.", {
        cause,
      });
      for (const call of outcomes.keys()) outcomes.set(call, broken);
      for (const call of waiting.splice(0)) outcomes.set(call, broken);
    }
  }

  function refusal(): unknown {
    return broken ?? (closed ? new StoreError("closed", "The store is closed.") : undefined);
  }

  return {
    write<R>(work: () => R, manner?: "patient"): Promise<R> {
      const refused = refusal();
      if (refused !== undefined) return Promise.reject(refused);
      return new Promise<R>((resolve, reject) => {
        let settle = () => {};
        rate += 1;
        counts.calls += 1;
        waiting.push({
          patient: manner === "patient",
          run() {
            const result = work();
            settle = () => resolve(result);
          },
          done: (error) => (error === undefined ? settle() : reject(error)),
        });
        if (manner !== "patient") schedule();
        else if (!running) patience ??= setTimeout(schedule, patienceMs);
      });
    },
    async read(work) {
      const refused = refusal();
      if (refused !== undefined) throw refused;
      try {
        return work();
      } catch (error) {
        throw toStoreError(error);
      }
    },
    get transaction() {
      return transaction;
    },
    get batch() {
      return batch;
    },
    counts,
    async whileLocked(work) {
      lockedByUs += 1;
      try {
        return await work();
      } finally {
        lockedByUs -= 1;
      }
    },
    async close() {
      closed = true;
      schedule();
      if (running || waiting.length > 0) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}
