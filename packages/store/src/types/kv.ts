import type { JsonValue, Millis } from "./common.ts";

/** Small values with a name: cursors, resume states, cached names. */
export interface KvStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  /** `ttlMs`: it is removed after this long. Default: it stays. */
  set(namespace: string, key: string, value: JsonValue, ttlMs?: number): Promise<void>;
  delete(namespace: string, key: string): Promise<boolean>;
  /** By key. A damaged value is `null`: the reader must recognise it by its key. */
  list(
    namespace: string,
  ): Promise<readonly { readonly key: string; readonly value: JsonValue; readonly expiresAt?: Millis }[]>;
}
