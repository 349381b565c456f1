import type { CachedRoute, RouteCacheStore } from "./route-cache.ts";

/** A `RouteCacheStore` in memory, for tests and for hosts without a database. */
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
      // Delete first: setting an existing key would keep its old position in the map.
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
