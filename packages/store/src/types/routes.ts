import type { JsonValue } from "./common.ts";

/**
 * Resolved routes, so that a restart is warm. A digest names everything a route depends on. Pruning removes those that
 * were put more than 30 days ago.
 */
export interface RouteCacheStore {
  /** The most recently written routes of one configuration, newest first. Default limit 2000. */
  load(
    config: string,
    limit?: number,
  ): Promise<readonly { readonly digest: string; readonly route: JsonValue }[]>;
  put(config: string, rows: readonly { readonly digest: string; readonly route: JsonValue }[]): Promise<void>;
  /** Removes the routes of every other configuration; gives their number. */
  prune(keepConfig: string): Promise<number>;
}
