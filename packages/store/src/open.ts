import { randomFillSync } from "node:crypto";
import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { createAnswers } from "./answers.ts";
import { commitQueue } from "./commit-queue.ts";
import type { Context } from "./context.ts";
import { toStoreError, wrapDatabase } from "./database.ts";
import { createDedupeIndex } from "./dedupe.ts";
import { createEntries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { createGroupHistoryStore } from "./group-history.ts";
import { idMaker } from "./ids.ts";
import { createInboxStore } from "./inbox.ts";
import { createInboxReader } from "./inbox-rows.ts";
import { createKvStore } from "./kv.ts";
import { createFence, createLeaseStore } from "./leases.ts";
import { createMaintenanceStore } from "./maintenance.ts";
import { createMessageChain } from "./messages.ts";
import { migrate } from "./migrate.ts";
import { createOutboxStore } from "./outbox.ts";
import { createOutboxRows } from "./outbox-rows.ts";
import { createPairingStore } from "./pairing.ts";
import { createPruner } from "./prune.ts";
import { createRouteCacheStore } from "./routes.ts";
import { createRunRows } from "./run-rows.ts";
import { createRunStore } from "./runs.ts";
import { createSessionRows } from "./session-rows.ts";
import { createSessionStore } from "./sessions.ts";
import { createTraceStore } from "./traces.ts";
import type { Bodies } from "./types/common.ts";
import type { Store, StoreOptions } from "./types/store.ts";
import { createUsageStore } from "./usage.ts";
import { writeAheadLog } from "./write-ahead-log.ts";

const defaultInboxLimit = 10_000;
const defaultSpacingMs = 16;
/** While opening, another process may be migrating. */
const openTimeoutMs = 5000;
/** In kibibytes. */
const cacheKib = 4096;

function systemRandom(): number {
  const [a = 0, b = 0] = randomFillSync(new Uint32Array(2));
  return (a * 2 ** 20 + (b >>> 12)) / 2 ** 52;
}

function connect(path: string): Sqlite.Database {
  const inMemory = path === ":memory:";
  if (!inMemory) {
    try {
      // Conversations and pairing are nobody else's business; the log files inherit the mode.
      fs.closeSync(fs.openSync(path, "a", 0o600));
    } catch (cause) {
      throw new StoreError("invalid", `The database ${path} cannot be opened for writing: ${String(cause)}`, {
        cause,
      });
    }
  }
  const raw = new Sqlite(path, { timeout: openTimeoutMs });
  try {
    raw.pragma("temp_store = MEMORY");
    raw.pragma(`cache_size = -${cacheKib}`);
    raw.pragma("wal_autocheckpoint = 0");
    migrate(raw, path);
    if (!inMemory) raw.pragma("journal_mode = WAL");
    // The log is synced by `writeAheadLog`.
    raw.pragma("synchronous = NORMAL");
    raw.pragma("busy_timeout = 0");
    return raw;
  } catch (error) {
    raw.close();
    throw toStoreError(error);
  }
}

/**
 * Opens the database, making or migrating it where needed.
 *
 * `T` says what the host keeps in the store ({@link Bodies}); it is taken on trust, since the bodies are only read by
 * those who wrote them.
 *
 * @throws StoreNewerError, StoreError `corrupt`, `invalid`, `locked`, `disk_full`
 */
export async function openStore<T extends Bodies = Bodies>(options: StoreOptions): Promise<Store<T>> {
  const { path } = options;
  const raw = connect(path);
  const database = wrapDatabase(raw, options.faults);
  const log = path === ":memory:" ? undefined : writeAheadLog(raw, path, options.logger);

  let checkpointAsked: (() => void)[] = [];
  async function checkpointNow(): Promise<void> {
    const asked = checkpointAsked;
    checkpointAsked = [];
    await log?.checkpoint();
    for (const resolve of asked) resolve();
  }

  const queue = commitQueue({
    database,
    spacingMs: options.limits?.commitSpacingMs ?? defaultSpacingMs,
    ...(log === undefined ? {} : { syncLog: log.sync }),
    afterBatch: () => (checkpointAsked.length > 0 ? checkpointNow() : log?.tend()),
  });
  const context: Context = {
    database,
    queue,
    now: options.clock ?? Date.now,
    newIdMaker: () => idMaker(options.random ?? systemRandom),
    inboxLimit: options.limits?.inbox ?? defaultInboxLimit,
  };

  const fence = createFence(context);
  const entries = createEntries(database);
  const inbox = createInboxReader<T>(context, entries);
  const dedupe = createDedupeIndex(context, inbox);
  const chain = createMessageChain<T>(database, entries);
  const sessions = createSessionRows(context);
  const rows = createRunRows(context, fence);
  const outbox = createOutboxRows<T>(context, entries);
  const answers = createAnswers(context);
  const traces = createTraceStore(context);
  const prune = createPruner(context, sessions, chain, dedupe);
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await traces.flush().catch(() => {});
    await queue.close();
    const closeFiles = log?.close();
    // Closing empties the log into the file, this time with SQLite's own syncs.
    raw.pragma("synchronous = FULL");
    raw.close();
    closeFiles?.();
  }

  return {
    inbox: createInboxStore(context, inbox, entries, dedupe, answers),
    sessions: createSessionStore(context, fence, sessions, chain),
    runs: createRunStore(context, { fence, inbox, sessions, chain, outbox, rows }),
    usage: createUsageStore(context),
    leases: createLeaseStore(context, fence),
    outbox: createOutboxStore(context, fence, outbox, rows, entries, answers),
    routes: createRouteCacheStore(context),
    groupHistory: createGroupHistoryStore(context),
    kv: createKvStore(context),
    pairing: createPairingStore(context, fence, outbox),
    traces: { append: traces.append, read: traces.read },
    maintenance: createMaintenanceStore(context, {
      path,
      log,
      prune,
      checkpoint: async () => {
        const done = new Promise<void>((resolve) => checkpointAsked.push(resolve));
        await queue.write(() => undefined);
        await done;
      },
    }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
