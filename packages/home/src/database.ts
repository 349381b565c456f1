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

/** The name of the lease under which the gateway of a home writes. Several may share one store. */
export function gatewayLease(home: Pick<Home, "dir">): string {
  return `gateway ${home.dir}`;
}

/** Makes this process the one that works on the home. @throws GatewayError where another has it */
export function lockHome(home: Home): HomeLock {
  try {
    return acquireHomeLock(home.dir);
  } catch (error) {
    if (!(error instanceof HomeHeldError)) throw error;
    throw new GatewayError("held", error.message, { cause: error });
  }
}

/**
 * Opens the database for the gateway that holds the home, making or migrating it.
 * @throws GatewayError where it is newer than this program, or cannot be opened
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
 * Takes the lease of the gateway of a home. The holder of the home's lock is the only holder of its lease, so a crash
 * leaves nothing to wait for.
 * @throws GatewayError if another gateway holds it
 */
export async function takeLease(
  { leases }: Pick<SqliteStore<Bodies>, "leases">,
  home: Home,
  leaseMs: number,
): Promise<Lease> {
  const lease = await leases.acquire(gatewayLease(home), `home ${home.dir}`, leaseMs);
  if (lease) return lease;
  throw new GatewayError(
    "held",
    `Another gateway is using the database ${home.databaseFile}. Stop it, or use another home.`,
  );
}

/**
 * Uses the database of a home beside a gateway that may be running on it. A database of another version is refused and
 * left as it is.
 * @throws GatewayError if there is none, or one that is newer than this program
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

/** @throws GatewayError where the database is newer than this program */
async function openKnown<B extends Bodies>(options: StoreOptions): Promise<SqliteStore<B>> {
  try {
    return await openStore<B>(options);
  } catch (error) {
    if (!(error instanceof StoreNewerError)) throw error;
    throw new GatewayError("newer_database", error.message, { cause: error });
  }
}
