import type { Clock } from "./clock.ts";

export const QUEUE_MODES = ["steer", "followup", "collect", "interrupt"] as const;

/**
 * Handling of an item that arrives during a run of its key.
 * - `steer`: it joins the run, which takes it with `takeSteering`.
 * - `followup`: it gets a separate run, after the items that arrived before it.
 * - `collect`: it shares the next run with everything else that waits.
 * - `interrupt`: it aborts the run and gets the next one.
 */
export type QueueMode = (typeof QUEUE_MODES)[number];

/** Handling of items beyond the cap: the oldest are summarised, the oldest are dropped, or the newest are dropped. */
type DropPolicy = "summarise" | "old" | "new";

export interface QueueSettings {
  readonly mode: QueueMode;
  /** Milliseconds of quiet before a run starts. */
  readonly debounceMs: number;
  /** Maximum number of waiting items per key. */
  readonly cap: number;
  readonly drop: DropPolicy;
}

/** A piece of work. Extend it with your own fields. */
export interface LaneItem {
  readonly id: string;
  /** True if it must not share a run. Default: false. */
  readonly exclusive?: boolean;
  /** Present if the item stands for a run that an earlier process began: the ids of the items of that run. */
  readonly covers?: readonly string[];
}

/** The items that start a run or join it. */
export interface Batch<Item extends LaneItem> {
  readonly items: readonly Item[];
  /** Older items beyond the cap, with the drop policy `summarise`. They belong to the run too. */
  readonly summarised: readonly Item[];
}

/** A run's access to its lane. */
export interface RunHandle<Item extends LaneItem> {
  /** Aborts when the run has to stop. */
  readonly signal: AbortSignal;
  /** Takes the items that arrived since the run began and steer it. They belong to the run from then on. */
  takeSteering(): Batch<Item>;
  /** Ids of the items of this run that were recalled since it began. */
  readonly recalled: Pick<ReadonlySet<string>, "has">;
  /**
   * Frees the run's slot while it only waits, for a person or for its next attempt. Taking the slot back never waits,
   * so for a while more runs than `maxRuns` may be active.
   */
  standBy(on: boolean): void;
  /**
   * Blocks the key for the rest of the process. Call it if the run cannot be completed here, so that no later item
   * overtakes what it left.
   */
  block(): void;
}

/** The reason why items got no run. */
export type Dropped<Item extends LaneItem> =
  | {
      readonly kind: "full";
      readonly drop: "old" | "new";
      readonly cap: number;
      /** The first dropped items since the lane was idle, one for each group of items that may share a run. */
      readonly first: readonly Item[];
    }
  | { readonly kind: "stopped" };

export interface LanesOptions<Item extends LaneItem> {
  /**
   * Returns how many runs may be active over all keys. Called before each start, so the limit may change. Runs that
   * stand by do not count, up to four times as many. An owner with twice as many standing by starts no others.
   */
  readonly maxRuns: () => number;
  /** Returns the key of an item. Each key has at most one run at a time. */
  readonly getKey: (item: Item) => string;
  /** Processes a batch. If it rejects, the error goes to `onError` and the batch counts as processed. */
  readonly run: (batch: Batch<Item>, handle: RunHandle<Item>) => Promise<void>;
  /** Returns who an item belongs to. If more keys are ready than may run, owners take turns. Default: the key. */
  readonly getOwner?: (item: Item) => string;
  /**
   * Returns true for items that may take all free slots. Of the slots, one in sixteen (and at least one of two) is
   * reserved for them. An owner of other items has at most as many runs as there are free slots for such items: one
   * owner at most half of them, two a third each. Default: every item is privileged.
   */
  readonly isPrivileged?: (item: Item) => boolean;
  /** Returns true if two items of a key may share a run. Default: always. */
  readonly mayShareRun?: (a: Item, b: Item) => boolean;
  /** Returns the settings of a key. Default: mode `steer`, no debounce, a cap of 20, `summarise`. */
  readonly getQueueSettings?: (key: string) => QueueSettings;
  /** Called with items that get no run. Default: they are dropped silently. */
  readonly onDropped?: (items: readonly Item[], reason: Dropped<Item>) => void;
  /** Called with what `run` threw or rejected with, and its batch. Default: `console.error`. */
  readonly onError?: (error: unknown, batch: Batch<Item>) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/** The result of `stop`. */
export interface StopResult {
  /** True if there was a run to stop. */
  readonly running: boolean;
  /** Number of waiting items that were dropped. */
  readonly dropped: number;
}

/** Runs work under keys: one run at a time for each key, many keys at once, fair between owners. */
export interface Lanes<Item extends LaneItem> {
  enqueue(item: Item): void;
  /** Removes a waiting item. Returns false if it does not wait, for instance because a run has it. */
  withdraw(key: string, id: string): boolean;
  /**
   * Recalls an item from its run. A run without any item left is aborted with `reason`.
   *
   * @returns false if no run has the item
   */
  recall(key: string, id: string, reason: Error): boolean;
  /** Replaces a waiting item by another version of it. Returns false if it does not wait. */
  replace(item: Item): boolean;
  /**
   * Aborts the run of a key with `reason` and drops waiting items.
   *
   * @param drops selects the waiting items to drop; default: all
   */
  stop(key: string, reason: Error, drops?: (item: Item) => boolean): StopResult;
  /** Aborts every run that has a matching item, and drops every matching item that waits. */
  stopWhere(matches: (item: Item) => boolean, reason: Error): void;
  /** Returns true if a key has a run or waiting items. */
  busy(key: string): boolean;
  waiting(key: string): readonly Item[];
  /** Returns the items of the current run that were not recalled, and the waiting ones. */
  all(key: string): readonly Item[];
  counts(): { readonly running: number; readonly waiting: number };
  /** Starts no further runs. Resolves when the active ones have ended. */
  close(): Promise<void>;
  /** Aborts every run. */
  stopAll(reason: Error): void;
}
