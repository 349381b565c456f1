import { randomInt } from "node:crypto";
import { nonceMaker } from "@signalbox/store/backend";
import type { Bodies, Store } from "@signalbox/store/types";
import { createAccessStore } from "./access.ts";
import { createApprovalStore } from "./approvals.ts";
import { createAuditLog } from "./audit-log.ts";
import { createBudgetStore } from "./budgets.ts";
import { checkConnection, connectionConfig, openPool } from "./connections.ts";
import type { Context } from "./context.ts";
import { createDatabase } from "./database.ts";
import { toStoreError } from "./driver-errors.ts";
import { createEraser } from "./erase.ts";
import { createGroupHistoryStore } from "./group-history.ts";
import { createSharedHints, createUnsharedHints } from "./hints.ts";
import { createInboxStore } from "./inbox.ts";
import { createKvStore } from "./kv.ts";
import { createFence, createLeaseStore } from "./leases.ts";
import { createLiveEventStore } from "./live-events.ts";
import { createMaintenanceStore } from "./maintenance.ts";
import { createMessageContextStore } from "./message-contexts.ts";
import { migrate, requireVersion } from "./migrate.ts";
import { createNodeStore } from "./nodes.ts";
import { createObjectStore } from "./objects.ts";
import { type PostgresStoreOptions, resolveTimeouts } from "./options.ts";
import { createOutboxStore } from "./outbox.ts";
import { createOutboxInsert } from "./outbox-insert.ts";
import { createPairingStore } from "./pairing.ts";
import { createPruner } from "./prune.ts";
import { createRouteCacheStore } from "./routes.ts";
import { createRunStore } from "./runs.ts";
import { createSessionStore } from "./sessions.ts";
import { createTraceStore } from "./traces.ts";
import { createUsageStore } from "./usage.ts";

const defaultInboxLimit = 10_000;
/** Exclusive upper bound for `randomInt`. */
const MAX_RANDOM = 2 ** 47;

/**
 * Opens a store in a PostgreSQL database, which several processes can share. With `access: "own"`, the tables are
 * created or migrated if necessary.
 *
 * `T` declares the types of the bodies. Bodies are not validated, because only the host that wrote a body reads it.
 *
 * @throws StoreNewerError
 * @throws StoreError `store_older`, `invalid`, `unreachable`
 *
 * @example
 * const store = await openPostgresStore({ url: "postgres://signalbox:secret@localhost/signalbox" });
 */
export async function openPostgresStore<T extends Bodies = Bodies>(
  options: PostgresStoreOptions,
): Promise<Store<T>> {
  const timeouts = resolveTimeouts(options.timeouts);
  const pool = openPool(options, timeouts.statementMs);
  try {
    await checkConnection(pool);
    if ((options.access ?? "own") !== "own") await requireVersion(pool);
    else {
      const migration = await migrate(pool);
      if (migration !== undefined) options.logger?.info(migration, "database migrated");
    }
  } catch (error) {
    await pool.end();
    throw toStoreError(error);
  }
  const database = createDatabase(pool, { timeouts, clock: options.clock });
  const nonce = nonceMaker(options.random ?? (() => randomInt(MAX_RANDOM) / MAX_RANDOM));
  return createStores<T>({ database, nonce }, options);
}

function createStores<T extends Bodies>(context: Context, options: PostgresStoreOptions): Store<T> {
  const { database } = context;
  const fence = createFence(database);
  const readOutbox = createOutboxInsert<T>(context);
  const hints =
    options.hints === false
      ? createUnsharedHints()
      : createSharedHints(connectionConfig(options.url, options.clientName));
  const traces = createTraceStore(context, options.clock ?? Date.now);
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await traces.flush().catch(() => {});
    await hints.close();
    await database.close();
  }

  return {
    inbox: createInboxStore(context, fence, options.limits?.inbox ?? defaultInboxLimit),
    sessions: createSessionStore(context, fence),
    runs: createRunStore(context, fence, readOutbox),
    usage: createUsageStore(context),
    budgets: createBudgetStore(context, fence),
    leases: createLeaseStore(context),
    outbox: createOutboxStore(context, fence, readOutbox),
    routes: createRouteCacheStore(context),
    groupHistory: createGroupHistoryStore(context),
    contexts: createMessageContextStore(context),
    kv: createKvStore(context),
    nodes: createNodeStore(context),
    access: createAccessStore(context),
    audit: createAuditLog(context),
    approvals: createApprovalStore(context),
    hints: { send: hints.send, listen: hints.listen },
    isShared: true,
    liveEvents: createLiveEventStore(context),
    objects: createObjectStore(context),
    pairing: createPairingStore(context, fence, readOutbox),
    // Pending trace entries may contain the texts.
    maintenance: createMaintenanceStore(
      context,
      createPruner(database),
      createEraser(database, traces.flush),
    ),
    traces: { append: traces.append, read: traces.read },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
