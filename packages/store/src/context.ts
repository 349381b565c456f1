import type { CommitQueue } from "./commit-queue.ts";
import type { Database } from "./database.ts";
import type { IdMaker } from "./ids.ts";

/** What the parts of a store share. */
export interface Context {
  readonly database: Database;
  readonly queue: CommitQueue;
  readonly now: () => number;
  /** A maker for one table: ids of two tables are never the same. */
  readonly newIdMaker: () => IdMaker;
  readonly inboxLimit: number;
}
