import type { JsonValue, Millis } from "./common.ts";

/** Stores small named values: cursors, resume states, cached names. */
export interface KvStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  /**
   * Stores a value as JSON, without its `undefined` members.
   *
   * @param ttlMs time after which the value is removed. Default: never
   * @throws StoreError `invalid` if JSON cannot represent the value
   */
  set(namespace: string, key: string, value: unknown, ttlMs?: number): Promise<void>;
  delete(namespace: string, key: string): Promise<boolean>;
  /** Returns the values, sorted by key. A damaged value is returned as `null`, and its key identifies it. */
  list(
    namespace: string,
  ): Promise<readonly { readonly key: string; readonly value: JsonValue; readonly expiresAt?: Millis }[]>;
}
