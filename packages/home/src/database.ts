import { reasonOf } from "@signalbox/agent-core";
import {
  acquireHomeLock,
  type Bodies,
  HomeHeldError,
  type HomeLock,
  type Lease,
  openStore,
  type SqliteStore,
  type StoreAccess,
  StoreNewerError,
  type StoreOptions,
} from "@signalbox/store";
import { GatewayError } from "./errors.ts";
import type { Home } from "./layout.ts";
import { isThere } from "./readable.ts";

/** Makes this process the only one that works on the home. @throws GatewayError if another process holds it */
export function lockHome(home: Home): HomeLock {
  try {
    return acquireHomeLock(home.dir);
  } catch (error) {
    if (!(error instanceof HomeHeldError)) throw error;
    throw new GatewayError("held", error.message, { cause: error });
  }
}

/**
 * Opens the database for the gateway that holds the home, and creates or migrates it if necessary.
 *
 * @throws GatewayError if it is newer than this program or cannot be opened
 */
export async function openDatabase<B extends Bodies>(
  home: Home,
  options: Omit<StoreOptions, "path" | "access">,
): Promise<SqliteStore<B>> {
  try {
    return await openKnown<B>({ path: home.databaseFile, ...options });
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const reason = reasonOf(error);
    const named = reason.startsWith(home.databaseFile) ? reason : `${home.databaseFile}: ${reason}`;
    throw new GatewayError("cannot_write", named, { cause: error });
  }
}

/**
 * Acquires the lease under which the gateway of a home writes. Only the holder of the home's lock uses this lease, so it
 * can be acquired immediately after a crash.
 *
 * @param node see {@link getNodeId}
 * @throws GatewayError if another gateway holds the lease
 */
export async function takeLease(
  { leases }: Pick<SqliteStore<Bodies>, "leases">,
  node: string,
  leaseMs: number,
): Promise<Lease> {
  const lease = await leases.acquire(`gateway ${node}`, node, leaseMs);
  if (lease) return lease;
  throw new GatewayError("held", `Another gateway holds the lease of the node ${node}. Stop it.`);
}

/**
 * Opens the database of a home that a running gateway may be using, and closes it after `use`. A database of another
 * version is refused.
 *
 * @throws GatewayError if there is no database, or if it is newer than this program
 */
export async function withDatabase<B extends Bodies, T>(
  home: Home,
  access: Exclude<StoreAccess, "own">,
  use: (store: SqliteStore<B>) => Promise<T>,
): Promise<T> {
  if (!isThere(home.databaseFile))
    throw new GatewayError(
      "failure",
      `There is no database ${home.databaseFile} yet. Start the gateway once, or use --home.`,
    );
  const store = await openKnown<B>({ path: home.databaseFile, access });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** @throws GatewayError if the database is newer than this program */
async function openKnown<B extends Bodies>(options: StoreOptions): Promise<SqliteStore<B>> {
  try {
    return await openStore<B>(options);
  } catch (error) {
    if (!(error instanceof StoreNewerError)) throw error;
    throw new GatewayError("newer_database", error.message, { cause: error });
  }
}
