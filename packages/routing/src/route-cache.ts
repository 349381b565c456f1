import type { JsonValue, RouteCacheStore } from "@signalbox/store/types";
import { LRUCache } from "lru-cache";
import type { Route } from "./route.ts";

/** Timer for delayed writes to the durable cache. */
export interface RouterClock {
  /** Calls `run` once, after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** A cached route. A route from the store is not verified yet. */
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

/** Maximum number of routes to load at startup, which covers the conversations of the last few days. */
const MAX_LOADED_ROUTES = 2_000;
/** Maximum length of a cached session key, in UTF-16 units. No common platform has longer ids. */
const MAX_SESSION_KEY_LENGTH = 1_024;
/** Maximum number of pending rows. Further rows are dropped, because a route can be computed again. */
const MAX_PENDING_ROWS = 2_000;
/** Number of pending rows at which they are written immediately. */
const FLUSH_AT = 256;
/** Delay before pending rows are written, in milliseconds. */
const FLUSH_MS = 1_000;

/** Caches routes in memory, and in a durable store that is read at startup and written in the background. */
export class RouteCache {
  readonly #store: RouteCacheStore | undefined;
  readonly #config: string;
  readonly #maxRoutes: number;
  readonly #clock: RouterClock;
  readonly #onError: (error: unknown) => void;
  readonly #entries: LRUCache<string, CacheEntry> | undefined;
  readonly #pending = new Map<string, JsonValue>();
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

  /** Like `get`, but does not mark the route as recently used. */
  peek(digest: string): CacheEntry | undefined {
    return this.#entries?.peek(digest);
  }

  /** Caches a route in memory. */
  keep(digest: string, route: Route): void {
    if (route.sessionKey.length <= MAX_SESSION_KEY_LENGTH)
      this.#entries?.set(digest, { source: "memory", route });
  }

  /** Queues a route to be written to the store. */
  write(digest: string, route: Route): void {
    if (this.#store === undefined || this.#pending.size >= MAX_PENDING_ROWS) return;
    this.#pending.set(digest, { ...route });
    if (this.#pending.size === FLUSH_AT) void this.flush();
    else this.#cancelTimer ??= this.#clock.after(FLUSH_MS, () => void this.flush());
  }

  /**
   * Loads this configuration's routes and removes those of other configurations. Returns the number of loaded routes.
   */
  async warm(): Promise<number> {
    const limit = Math.min(MAX_LOADED_ROUTES, this.#maxRoutes);
    let loaded = 0;
    try {
      const rows = (await this.#store?.load(this.#config, limit)) ?? [];
      // Add the newest last, so that they are evicted last.
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

  /** Writes pending rows. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(async () => {
      const rows = [...this.#pending].map(([digest, route]) => ({ digest, route }));
      this.#pending.clear();
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
