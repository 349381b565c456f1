import type { JsonValue } from "./common.ts";

/**
 * Cache of resolved routes that survives restarts. A digest covers everything that a route depends on. Pruning removes
 * routes that were stored more than 30 days ago.
 */
export interface RouteCacheStore {
  /** Returns the latest routes of a configuration, newest first. Default limit: 2,000. */
  load(
    config: string,
    limit?: number,
  ): Promise<readonly { readonly digest: string; readonly route: JsonValue }[]>;
  put(config: string, rows: readonly { readonly digest: string; readonly route: JsonValue }[]): Promise<void>;
  /** Removes the routes of all other configurations and returns their number. */
  prune(keepConfig: string): Promise<number>;
}
