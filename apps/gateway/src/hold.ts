import { ONCE } from "@signalbox/server";
import {
  acquireHomeLock,
  HomeHeldError,
  type HomeLock,
  type Lease,
  openStore,
  StoreNewerError,
} from "@signalbox/store";
import { EXIT, GatewayError, messageOf } from "./errors.ts";
import type { Home } from "./home.ts";
import type { Instrument } from "./instrument.ts";
import type { Logger } from "./log.ts";
import { type GatewayBodies, type GatewayStore, isFatal } from "./store.ts";

/** The lease under which a gateway writes. */
export const LEASE_NAME = "gateway";

/** Keeps the lease; tells where that is not possible any more. */
export async function renew(
  store: GatewayStore,
  lease: Lease,
  leaseMs: number,
  onLost: (error: Error) => void,
  logger: Logger,
): Promise<void> {
  try {
    const kept = await store.leases.renew([lease], leaseMs);
    if (kept.length === 0) onLost(new Error("another process has taken over this home"));
  } catch (error) {
    logger.error({ err: messageOf(error) }, "the lease could not be renewed");
    if (error instanceof Error && isFatal(error)) onLost(error);
  }
}

/** How long a conversation of one request is kept, in milliseconds, and how many there may be. */
const ONCE_MS = 60 * 60_000;
const ONCE_KEPT = 1_000;
/** Sessions looked at, and removed, at once. */
const PAGE = 200;

/** Removes the conversations of clients that keep theirs themselves: nobody comes back to them. */
export async function pruneOneOffs(
  store: GatewayStore,
  lease: Lease,
  now: () => number,
  logger: Logger,
): Promise<void> {
  try {
    const oldest = now() - ONCE_MS;
    let kept = 0;
    let before: number | undefined;
    for (;;) {
      const page = await store.sessions.list({
        channel: "api",
        limit: PAGE,
        ...(before === undefined ? {} : { before }),
      });
      const gone = page.filter(
        ({ peer, updatedAt, activeRun }) =>
          peer.startsWith(ONCE) && activeRun === undefined && (++kept > ONCE_KEPT || updatedAt < oldest),
      );
      await Promise.all(gone.map(({ key }) => store.sessions.remove(key, lease)));
      const last = page.at(-1);
      if (page.length < PAGE || last === undefined) return;
      // What shares its last moment with the page is looked at next time.
      before = last.updatedAt;
    }
  } catch (error) {
    logger.warn({ err: messageOf(error) }, "conversations of one request could not be removed");
  }
}

/** @throws GatewayError where another gateway holds it */
export function takeHome(home: Home): HomeLock {
  try {
    return acquireHomeLock(home.dir);
  } catch (error) {
    if (!(error instanceof HomeHeldError)) throw error;
    throw new GatewayError(EXIT.held, error.message, { cause: error });
  }
}

/** @throws GatewayError where the database is newer, or cannot be opened */
export async function openHomeStore(
  home: Home,
  inboxLimit: number,
  logger: Logger,
  instrument: Instrument | undefined,
): Promise<GatewayStore> {
  try {
    const store = await openStore<GatewayBodies>({
      path: home.databaseFile,
      limits: { inbox: inboxLimit },
      logger: { warn: (fields, message) => logger.warn(fields, message) },
      ...(instrument === undefined ? {} : { faults: instrument.storeFaults }),
    });
    return instrument?.store(store) ?? store;
  } catch (error) {
    if (error instanceof StoreNewerError)
      throw new GatewayError(EXIT.newerDatabase, error.message, { cause: error });
    throw new GatewayError(EXIT.cannotWrite, `${home.databaseFile}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Whoever holds the home's lock is the one holder of its lease, so a crash leaves nothing to wait for.
 * @throws GatewayError where another gateway holds it
 */
export async function takeLease(store: GatewayStore, home: Home, leaseMs: number): Promise<Lease> {
  const lease = await store.leases.acquire(LEASE_NAME, `home ${home.dir}`, leaseMs);
  if (lease) return lease;
  throw new GatewayError(
    EXIT.held,
    `Another gateway works on the database ${home.databaseFile}. Stop it, or use another home.`,
  );
}
