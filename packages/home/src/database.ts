import { reasonOf } from "@signalbox/agent-core";
import type { StoreConfig } from "@signalbox/config";
import {
  type AnyStore,
  acquireHomeLock,
  type Bodies,
  HomeHeldError,
  type HomeLock,
  isStoreError,
  type Lease,
  openStore,
  type StoreAccess,
  type StoreOptions,
} from "@signalbox/store";
import { getStoreSettings, getStoreUrl } from "./config/store-url.ts";
import { GatewayError } from "./errors.ts";
import type { Env, Home } from "./layout.ts";
import { isThere } from "./readable.ts";

/** A PostgreSQL database. Without a URL, the database is the file in the home. */
type StoreSettings = Partial<StoreConfig>;

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
 * @param settings the section `store` of the configuration
 * @throws GatewayError if it is newer than this program or cannot be opened
 */
export async function openDatabase<B extends Bodies>(
  home: Home,
  settings: StoreSettings,
  options: Omit<StoreOptions, "path" | "access">,
): Promise<AnyStore<B>> {
  try {
    return await openKnown<B>({ path: home.databaseFile, ...options }, settings);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const reason = reasonOf(error);
    if (settings.url !== undefined) throw new GatewayError("cannot_write", reason, { cause: error });
    if (isStoreError(error) && error.code === "corrupt")
      throw new GatewayError(
        "cannot_write",
        `${home.databaseFile}: ${reason} Without a backup, \`signalbox doctor\` names the next steps.`,
        { cause: error },
      );
    const named = reason.startsWith(home.databaseFile) ? reason : `${home.databaseFile}: ${reason}`;
    throw new GatewayError("cannot_write", named, { cause: error });
  }
}

/**
 * Acquires the lease under which the gateway of a home writes. Only the holder of the home's lock uses this lease, so
 * it can be acquired immediately after a crash.
 *
 * @param node see {@link getNodeId}
 * @throws GatewayError if another gateway holds the lease
 */
export async function takeLease(
  { leases }: Pick<AnyStore<Bodies>, "leases">,
  node: string,
  leaseMs: number,
): Promise<Lease> {
  const lease = await leases.acquire(`gateway ${node}`, node, leaseMs);
  if (lease) return lease;
  throw new GatewayError("held", `Another gateway holds the lease of the node ${node}. Stop it.`);
}

/**
 * Returns true if a gateway has created the database of the home.
 *
 * @throws StoreError if a PostgreSQL database cannot be used
 */
export async function hasDatabase(home: Home, env: Env = process.env): Promise<boolean> {
  const url = getStoreUrl(home, env);
  if (url === undefined) return isThere(home.databaseFile);
  const { inspectPostgres } = await import("@signalbox/store-postgres");
  return (await inspectPostgres(url)).schemaVersion > 0;
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
  use: (store: AnyStore<B>) => Promise<T>,
): Promise<T> {
  const settings: StoreSettings = getStoreSettings(home, process.env) ?? {};
  if (settings.url === undefined && !isThere(home.databaseFile))
    throw new GatewayError(
      "failure",
      `There is no database ${home.databaseFile} yet. Start the gateway once, or use --home.`,
    );
  const store = await openKnown<B>({ path: home.databaseFile, access }, settings);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** @throws GatewayError if the database is newer than this program */
async function openKnown<B extends Bodies>(
  options: StoreOptions,
  { url, hints = true }: StoreSettings,
): Promise<AnyStore<B>> {
  try {
    return url === undefined ? await openStore<B>(options) : await openShared<B>(options, { url, hints });
  } catch (error) {
    if (!isStoreError(error) || error.code !== "store_newer") throw error;
    throw new GatewayError("newer_database", error.message, { cause: error });
  }
}

/** Opens a PostgreSQL database. Its driver is loaded only then. */
async function openShared<B extends Bodies>(
  { access, limits, logger }: StoreOptions,
  settings: { readonly url: string; readonly hints: boolean },
): Promise<AnyStore<B>> {
  const { openPostgresStore } = await import("@signalbox/store-postgres");
  return openPostgresStore<B>({
    ...settings,
    ...(access === undefined ? {} : { access }),
    ...(limits === undefined ? {} : { limits }),
    ...(logger === undefined ? {} : { logger }),
  });
}
