import type { Database } from "./database.ts";

/** Dependencies shared by all modules of a store. */
export interface Context {
  readonly database: Database;
  /** Returns the random component of an id created at `at`. */
  readonly nonce: (at: number) => number;
}
