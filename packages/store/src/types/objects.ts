import type { Millis } from "./common.ts";

/** A stored object without its content. */
export interface ObjectInfo {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Time of the last `put`, by the clock of the storage. */
  readonly changedAt: Millis;
}

/** Files that all gateways can read which share a store. */
export interface ObjectStore {
  /**
   * Stores an object durably. Replaces an object with the same key.
   *
   * @param key letters, digits, `-`, `_`, and `/` between its parts
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the content of an object, or undefined if there is no object with this key. */
  open(key: string): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Lists the objects whose keys begin with `prefix`, in the order of their keys. */
  list(prefix: string): Promise<readonly ObjectInfo[]>;
  /** Removes objects. Keys without an object are ignored. */
  remove(keys: readonly string[]): Promise<void>;
}
