import type { CachedRoute, Route, RouteCacheStore, RouterClock } from "./types.ts";

/** A durable cache that is not: for tests, and for those who keep no state. */
export class MemoryRouteCache implements RouteCacheStore {
  readonly #configs = new Map<string, Map<string, CachedRoute["route"]>>();

  async load(config: string, limit: number): Promise<readonly CachedRoute[]> {
    const rows = [...(this.#configs.get(config) ?? [])].reverse().slice(0, limit);
    return rows.map(([digest, route]) => ({ digest, route }));
  }

  async put(config: string, rows: readonly CachedRoute[]): Promise<void> {
    const routes = this.#configs.get(config) ?? new Map<string, CachedRoute["route"]>();
    this.#configs.set(config, routes);
    for (const { digest, route } of rows) {
      routes.delete(digest);
      routes.set(digest, route);
    }
  }

  async prune(keepConfig: string): Promise<number> {
    let removed = 0;
    for (const [config, routes] of [...this.#configs]) {
      if (config === keepConfig) continue;
      removed += routes.size;
      this.#configs.delete(config);
    }
    return removed;
  }
}

const TIMERS: RouterClock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Rows that wait at most; what comes on top is not kept, since a route can always be worked out again. */
const MAX_WAITING = 2_000;
const FLUSH_AT = 256;
const FLUSH_MS = 1_000;

/** Reads routes at the start and writes new ones behind the back of whoever asks for a route. */
export class DurableRoutes {
  readonly #store: RouteCacheStore;
  readonly #config: string;
  readonly #clock: RouterClock;
  readonly #onError: (error: unknown) => void;
  readonly #loaded = new Map<string, unknown>();
  readonly #waiting = new Map<string, CachedRoute["route"]>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    store: RouteCacheStore,
    config: string,
    clock: RouterClock = TIMERS,
    onError: (error: unknown) => void = () => {},
  ) {
    this.#store = store;
    this.#config = config;
    this.#clock = clock;
    this.#onError = onError;
  }

  async warm(limit: number): Promise<number> {
    try {
      for (const { digest, route } of await this.#store.load(this.#config, limit)) {
        this.#loaded.set(digest, route);
      }
      await this.#store.prune(this.#config);
    } catch (error) {
      this.#onError(error);
    }
    return this.#loaded.size;
  }

  /** A loaded route, still to be checked. */
  get(digest: string): unknown {
    return this.#loaded.get(digest);
  }

  /** A loaded route has moved into memory, or turned out to be useless. */
  forget(digest: string): void {
    this.#loaded.delete(digest);
  }

  put(digest: string, route: Route): void {
    if (this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(digest, { ...route });
    if (this.#waiting.size === FLUSH_AT) void this.flush();
    else this.#cancel ??= this.#clock.after(FLUSH_MS, () => void this.flush());
  }

  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#writing = this.#writing.then(async () => {
      const rows = [...this.#waiting].map(([digest, route]) => ({ digest, route }));
      this.#waiting.clear();
      if (rows.length === 0) return;
      try {
        await this.#store.put(this.#config, rows);
      } catch (error) {
        this.#onError(error);
      }
    });
    return this.#writing;
  }
}
