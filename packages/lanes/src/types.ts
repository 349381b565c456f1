import type { Clock } from "./clock.ts";

export const QUEUE_MODES = ["steer", "followup", "collect", "interrupt"] as const;

/** How items that arrive during a run are treated. */
export type QueueMode = (typeof QUEUE_MODES)[number];

/** What happens to items beyond the cap: the oldest are summarised, or dropped, or the newest are dropped. */
export type DropPolicy = "summarise" | "old" | "new";

export interface QueueSettings {
  readonly mode: QueueMode;
  /** Milliseconds of quiet before a run starts. */
  readonly debounceMs: number;
  /** Items that may wait under one key. */
  readonly cap: number;
  readonly drop: DropPolicy;
}

/** What lanes need to know of an item. */
export interface LaneItem {
  readonly id: string;
  /** Must have a run of its own. */
  readonly exclusive: boolean;
  /** Present if it represents a run that an earlier process began, which answers these items. */
  readonly covers?: readonly string[];
}

/** The items of one run, or those that join it. */
export interface Batch<Item extends LaneItem> {
  readonly items: readonly Item[];
  /** Older items beyond the cap, to be told in short and to end with this run. */
  readonly summarised: readonly Item[];
}

/** A run's side of its lane. */
export interface RunHandle<Item extends LaneItem> {
  /** Aborted when the run is to stop. */
  readonly signal: AbortSignal;
  /** Takes the items that arrived since and steer this run; they belong to it from then on. */
  takeSteering(): Batch<Item>;
  /** Ids of this run's items that were taken back since it began. */
  readonly recalled: Pick<ReadonlySet<string>, "has">;
  /**
   * Says whether the run only waits, for a person or for the next attempt. Meanwhile others may take its place. It
   * never waits to get a place again.
   */
  standBy(on: boolean): void;
  /** The run was broken off for good: nothing more is started under its key, so that nothing later comes before it. */
  leave(): void;
}

/** Why items are left out. */
export type LeftOut<Item extends LaneItem> =
  | {
      readonly kind: "full";
      readonly drop: "old" | "new";
      readonly cap: number;
      /** Those of them, one for each group that may share a run, that are the first since their lane was idle. */
      readonly first: readonly Item[];
    }
  | { readonly kind: "stopped" };

export interface LanesOptions<Item extends LaneItem> {
  /**
   * Concurrent runs over all keys. Runs that stand by do not count, up to four times as many; an owner who has twice as
   * many of those starts no others meanwhile. Called whenever a run may start.
   */
  readonly maxRuns: () => number;
  /** Items of one key are never in two runs at once. */
  readonly keyOf: (item: Item) => string;
  /** Whose turn an item takes where more keys have work than may run. */
  readonly ownerOf: (item: Item) => string;
  /** Whether two items of a key may share a run. */
  readonly together: (a: Item, b: Item) => boolean;
  readonly queue: (key: string) => QueueSettings;
  /** Answers a batch. Must not reject. */
  readonly run: (batch: Batch<Item>, handle: RunHandle<Item>) => Promise<void>;
  /** Ends items that get no run. */
  readonly leaveOut: (items: readonly Item[], why: LeftOut<Item>) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** What a stop has met. */
export interface Stopped {
  /** A run went on. */
  readonly running: boolean;
  /** How many waiting items were left out. */
  readonly dropped: number;
}

/** One run a key, many keys at once, fair between owners and between the keys of each. */
export interface Lanes<Item extends LaneItem> {
  enqueue(item: Item): void;
  /** Takes an item back that waits; false where a run has it. */
  withdraw(key: string, id: string): boolean;
  /**
   * Takes an item back from the run that has it; false where none does. A run that is left with none is aborted with
   * `reason`.
   */
  recall(key: string, id: string, reason: Error): boolean;
  /** Replaces a waiting item by its later version; false where it does not wait. */
  replace(item: Item): boolean;
  /**
   * Stops the current run, and drops what waits; `reason` becomes the signal's.
   * @param drops which of the waiting items; default all
   */
  stop(key: string, reason: Error, drops?: (item: Item) => boolean): Stopped;
  /** Under every key: stops a run that has such an item, and leaves out those that wait. */
  stopWhere(isMeant: (item: Item) => boolean, reason: Error): void;
  /** Whether there is a current run or waiting items. */
  busy(key: string): boolean;
  waiting(key: string): readonly Item[];
  /** What its run answers, as far as it was not taken back, and what waits. */
  all(key: string): readonly Item[];
  counts(): { readonly running: number; readonly waiting: number };
  /** Starts no more runs; resolves when those that go on have ended. */
  close(): Promise<void>;
  /** Aborts every run. */
  stopAll(reason: Error): void;
}
