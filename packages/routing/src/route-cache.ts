import { LRUCache } from "lru-cache";
import type { Route } from "./route.ts";

/**
 * A durable cache of routes, so that a restart is warm. It is never needed: what it gives is checked, its failures
 * are reported and otherwise without effect. `@signalbox/routing/testkit` tests implementations.
 */
export interface RouteCacheStore {
  /** The most recently written routes of one configuration, newest first; at most `limit`. */
  load(
    config: string,
    limit: number,
  ): Promise<readonly { readonly digest: string; readonly route: unknown }[]>;
  /** Adds routes, or replaces those with the same digest. The last row is the newest. */
  put(config: string, rows: readonly CachedRoute[]): Promise<void>;
  /** Removes the routes of every other configuration; gives their number. */
  prune(keepConfig: string): Promise<number>;
}

/** A row of the durable cache. */
export interface CachedRoute {
  readonly digest: string;
  /** Plain JSON. */
  readonly route: { readonly [field: string]: string | number };
}

/** Time, for the delayed writes to the durable cache. */
export interface RouterClock {
  /** Calls `run` once, after `ms` milliseconds; the function given back prevents it. */
  after(ms: number, run: () => void): () => void;
}

/** A route by its digest. One from the store has still to be checked. */
export type CacheEntry =
  | { readonly source: "memory"; readonly route: Route }
  | { readonly source: "store"; readonly route: unknown };

export interface RouteCacheOptions {
  readonly store: RouteCacheStore | undefined;
  /** Digest of the configuration. */
  readonly config: string;
  readonly maxRoutes: number;
  readonly clock: RouterClock | undefined;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Routes loaded at the start; enough for the conversations of the last days. */
const MAX_LOADED = 2_000;
/** Ids as long as this are not an ordinary platform's: such routes are worked out each time. */
const MAX_SESSION_KEY = 1_024;
/** Rows that wait at most; what comes on top is not kept, since a route can always be worked out again. */
const MAX_WAITING = 2_000;
const FLUSH_AT = 256;
const FLUSH_MS = 1_000;

/** Routes in memory, over a durable store that is read at the start and written behind the caller's back. */
export class RouteCache {
  readonly #store: RouteCacheStore | undefined;
  readonly #config: string;
  readonly #maxRoutes: number;
  readonly #clock: RouterClock;
  readonly #onError: (error: unknown) => void;
  readonly #entries: LRUCache<string, CacheEntry> | undefined;
  readonly #waiting = new Map<string, CachedRoute["route"]>();
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor({ store, config, maxRoutes, clock = TIMERS, onError = () => {} }: RouteCacheOptions) {
    this.#store = store;
    this.#config = config;
    this.#maxRoutes = maxRoutes;
    this.#clock = clock;
    this.#onError = onError;
    this.#entries = maxRoutes > 0 ? new LRUCache({ max: maxRoutes }) : undefined;
  }

  get(digest: string): CacheEntry | undefined {
    return this.#entries?.get(digest);
  }

  /** As `get`, without making the route a recently used one. */
  peek(digest: string): CacheEntry | undefined {
    return this.#entries?.peek(digest);
  }

  /** Keeps a route in memory. */
  keep(digest: string, route: Route): void {
    if (route.sessionKey.length <= MAX_SESSION_KEY) this.#entries?.set(digest, { source: "memory", route });
  }

  /** Writes a route to the store, soon. */
  write(digest: string, route: Route): void {
    if (this.#store === undefined || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(digest, { ...route });
    if (this.#waiting.size === FLUSH_AT) void this.flush();
    else this.#cancelTimer ??= this.#clock.after(FLUSH_MS, () => void this.flush());
  }

  /** Loads the routes of this configuration, removes those of others, and gives the number of those loaded. */
  async warm(): Promise<number> {
    const limit = Math.min(MAX_LOADED, this.#maxRoutes);
    let loaded = 0;
    try {
      const rows = (await this.#store?.load(this.#config, limit)) ?? [];
      // The newest last, so that they are the last to be dropped.
      for (const { digest, route } of rows.toReversed()) {
        if (!this.#entries?.has(digest)) this.#entries?.set(digest, { source: "store", route });
      }
      loaded = rows.length;
      await this.#store?.prune(this.#config);
    } catch (error) {
      this.#onError(error);
    }
    return loaded;
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(async () => {
      const rows = [...this.#waiting].map(([digest, route]) => ({ digest, route }));
      this.#waiting.clear();
      if (rows.length === 0) return;
      try {
        await this.#store?.put(this.#config, rows);
      } catch (error) {
        this.#onError(error);
      }
    });
    return this.#writing;
  }
}

const TIMERS: RouterClock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
