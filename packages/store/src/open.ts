import { randomInt } from "node:crypto";
import { createAccessStore } from "./access.ts";
import { createStoreAdmin } from "./admin.ts";
import { createAnswers } from "./answers.ts";
import { createApprovalStore } from "./approvals.ts";
import { createAuditLog } from "./audit/audit-log.ts";
import { createBudgetStore } from "./budgets.ts";
import { type CommitQueue, commitQueue } from "./commit-queue.ts";
import { connect } from "./connection.ts";
import type { Context } from "./context.ts";
import { wrapDatabase } from "./database.ts";
import { createDedupeIndex } from "./dedupe.ts";
import { createEntries } from "./entries.ts";
import { createEraser } from "./erase.ts";
import { createGroupHistoryStore } from "./group-history.ts";
import { createGroupHistoryRows } from "./group-history-rows.ts";
import { nonceMaker } from "./ids.ts";
import { createSessionImport } from "./import-session.ts";
import { createInboxStore } from "./inbox.ts";
import { createInboxRows } from "./inbox-rows.ts";
import { createKvStore } from "./kv.ts";
import { createFence, createLeaseStore } from "./leases.ts";
import { createLocalHints } from "./local-hints.ts";
import { createMaintenanceStore } from "./maintenance.ts";
import { createMessageContextStore } from "./message-contexts.ts";
import { createMessageChain } from "./messages.ts";
import { createNodeStore } from "./nodes.ts";
import { createOutboxStore } from "./outbox.ts";
import { createOutboxInsert } from "./outbox-insert.ts";
import { createOutboxRows } from "./outbox-rows.ts";
import { createPairingStore } from "./pairing.ts";
import { createPruner } from "./prune.ts";
import { createRouteCacheStore } from "./routes.ts";
import { createRunRows } from "./run-rows.ts";
import { createRunStore } from "./runs.ts";
import { createSessionRows } from "./session-rows.ts";
import { createSessionStore } from "./sessions.ts";
import { createToolCalls } from "./tool-calls.ts";
import { createTraceStore } from "./traces.ts";
import type { StoreAdmin } from "./types/admin.ts";
import type { Bodies } from "./types/common.ts";
import type { EraseRequest } from "./types/maintenance.ts";
import type { SqliteStore, StoreOptions } from "./types/store.ts";
import { createUsageStore } from "./usage.ts";
import { type WriteAheadLog, writeAheadLog } from "./write-ahead-log.ts";

const defaultInboxLimit = 10_000;
const defaultSpacingMs = 16;
/**
 * Maximum size of a file that is rewritten after an erasure, in bytes. Rewriting this much takes about a second in
 * another thread.
 */
const MAX_CLEANED_BYTES = 250_000_000;
/** Exclusive upper bound for `randomInt`. */
const MAX_RANDOM = 2 ** 47;

/**
 * Opens the database. With `access: "own"`, the database is created or migrated if necessary.
 *
 * `T` declares the types of the bodies ({@link Bodies}). Bodies are not validated, because only the host that wrote a
 * body reads it.
 *
 * @throws StoreNewerError
 * @throws StoreError `store_older`, `corrupt`, `invalid`, `locked`, `disk_full`
 */
export async function openStore<T extends Bodies = Bodies>(options: StoreOptions): Promise<SqliteStore<T>> {
  const { path, access = "own", limits, logger } = options;
  const raw = connect(path, access, logger);
  const database = wrapDatabase(raw, options.faults);
  const log = path === ":memory:" || access === "read" ? undefined : writeAheadLog(raw, path, logger);
  const checkpoints = betweenBatches(log);
  const queue = commitQueue({
    database,
    spacingMs: limits?.commitSpacingMs ?? defaultSpacingMs,
    syncLog: log === undefined ? undefined : () => log.sync(),
    afterBatch: checkpoints.afterBatch,
    logger,
  });
  const context: Context = {
    database,
    queue,
    now: options.clock ?? Date.now,
    nonce: nonceMaker(options.random ?? (() => randomInt(MAX_RANDOM) / MAX_RANDOM)),
  };
  const traces = createTraceStore(context);
  const admin = createStoreAdmin(context, {
    path,
    log,
    checkpoint: () => checkpoints.next(queue),
    importSession: (session, replaces) => importSession(session, replaces),
  });
  let closing: Promise<void> | undefined;

  /**
   * Removes old content from the unused parts of pages. Skipped for large files, because writes would wait too long.
   */
  async function cleanFile(): Promise<void> {
    if ((await admin.file()).fileBytes <= MAX_CLEANED_BYTES) await admin.vacuum();
    await checkpoints.truncate(queue);
  }

  // Pending trace entries may contain the texts.
  const erase = createEraser(context, { beforeErase: traces.flush, cleanFile });

  async function close(): Promise<void> {
    await traces.flush().catch(() => {});
    await queue.close();
    const closeFiles = log?.close();
    // While closing, SQLite checkpoints the log with its own syncs.
    raw.pragma("synchronous = FULL");
    raw.close();
    closeFiles?.();
  }

  const { importSession, ...stores } = createStores<T>(context, options, erase);
  return {
    ...stores,
    traces: { append: traces.append, read: traces.read },
    admin,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function createStores<T extends Bodies>(
  context: Context,
  options: StoreOptions,
  erase: (request: EraseRequest) => Promise<number>,
): Omit<SqliteStore<T>, "traces" | "admin" | "close"> & Pick<StoreAdmin, "importSession"> {
  const fence = createFence(context);
  const entries = createEntries(context.database);
  const inboxRows = createInboxRows<T>(context, entries);
  const dedupe = createDedupeIndex(context, inboxRows);
  const chain = createMessageChain<T>(context.database, entries);
  const sessionRows = createSessionRows(context);
  const runRows = createRunRows(context, fence);
  const history = createGroupHistoryRows(context);
  const outboxRows = createOutboxRows<T>(context);
  const insertOutbox = createOutboxInsert(context, { rows: outboxRows, entries, history });
  const answers = createAnswers(context, runRows);

  return {
    inbox: createInboxStore(context, {
      fence,
      rows: inboxRows,
      entries,
      dedupe,
      answers,
      limit: options.limits?.inbox ?? defaultInboxLimit,
      logger: options.logger,
    }),
    sessions: createSessionStore(context, { fence, rows: sessionRows, chain }),
    runs: createRunStore(context, {
      fence,
      inbox: inboxRows,
      sessions: sessionRows,
      chain,
      calls: createToolCalls(context.database),
      insertOutbox,
      rows: runRows,
    }),
    usage: createUsageStore(context),
    budgets: createBudgetStore(context, fence),
    leases: createLeaseStore(context, fence),
    outbox: createOutboxStore(context, {
      fence,
      rows: outboxRows,
      insert: insertOutbox,
      runs: runRows,
      entries,
      answers,
    }),
    routes: createRouteCacheStore(context),
    groupHistory: createGroupHistoryStore(context, history),
    contexts: createMessageContextStore(context),
    kv: createKvStore(context),
    nodes: createNodeStore(context),
    access: createAccessStore(context),
    audit: createAuditLog(context),
    approvals: createApprovalStore(context),
    pairing: createPairingStore(context, fence, insertOutbox),
    importSession: createSessionImport(context, { rows: sessionRows, chain }),
    hints: createLocalHints(),
    isShared: false,
    maintenance: createMaintenanceStore(context, createPruner(context, sessionRows, chain), erase),
  };
}

/** Runs requested checkpoints between two batches, when no transaction is open. */
function betweenBatches(log: WriteAheadLog | undefined) {
  let asked: (() => void)[] = [];
  let mustTruncate = false;

  async function next(queue: CommitQueue): Promise<void> {
    const done = new Promise<void>((resolve) => asked.push(resolve));
    await queue.write(() => undefined);
    await done;
  }

  return {
    async afterBatch(): Promise<void> {
      if (asked.length === 0) return log?.tend();
      const done = asked;
      asked = [];
      await log?.checkpoint();
      if (mustTruncate) log?.truncate();
      mustTruncate = false;
      for (const resolve of done) resolve();
    },
    next,
    truncate(queue: CommitQueue): Promise<void> {
      mustTruncate = true;
      return next(queue);
    },
  };
}
