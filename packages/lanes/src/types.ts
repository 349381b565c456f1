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

/** A queued item. Extend it with your own fields. */
export interface LaneItem {
  readonly id: string;
  /** True if it must not share a run. Default: false. */
  readonly exclusive?: boolean;
  /** Set if the item represents a run that an earlier process began. Contains the ids of that run's items. */
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
  /** Takes the items that arrived since the run began, to steer it. From then on they belong to the run. */
  takeSteering(): Batch<Item>;
  /** Ids of the items of this run that were recalled since it began. */
  readonly recalled: Pick<ReadonlySet<string>, "has">;
  /**
   * Frees the run's slot while it only waits for a person or for its next attempt. Taking the slot back never waits, so
   * more runs than `maxRuns` may be active for a while.
   */
  standBy(on: boolean): void;
  /**
   * Blocks the key for the rest of the process. Call it if the run cannot be completed here, so that no later item
   * overtakes its unfinished items.
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
   * Returns the maximum number of active runs over all keys. Called before each start, so the limit may change. Standby
   * runs do not count, up to four times the limit. An owner with standby runs of twice the limit starts no others.
   */
  readonly maxRuns: () => number;
  /** Returns the key of an item. Each key has at most one run at a time. */
  readonly getKey: (item: Item) => string;
  /** Processes a batch. If it rejects, the error goes to `onError` and the batch counts as processed. */
  readonly run: (batch: Batch<Item>, handle: RunHandle<Item>) => Promise<void>;
  /** Returns the owner of an item. If more keys are ready than may run, owners take turns. Default: the key. */
  readonly getOwner?: (item: Item) => string;
  /**
   * Returns true for items that may take all free slots. One in sixteen slots (and at least one of two) is reserved for
   * them. For other items, an owner may have at most as many runs as there are free unreserved slots: one owner gets at
   * most half of them, two get a third each. Default: every item is privileged.
   */
  readonly isPrivileged?: (item: Item) => boolean;
  /** Returns true if two items of a key may share a run. Default: always. */
  readonly mayShareRun?: (a: Item, b: Item) => boolean;
  /** Returns the settings of a key. Default: mode `steer`, no debounce, a cap of 20, `summarise`. */
  readonly getQueueSettings?: (key: string) => QueueSettings;
  /** Called with items that get no run. Default: they are silently dropped. */
  readonly onDropped?: (items: readonly Item[], reason: Dropped<Item>) => void;
  /** Called with the error of `run`, and its batch. Default: `console.error`. */
  readonly onError?: (error: unknown, batch: Batch<Item>) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** The result of `stop`. */
export interface StopResult {
  /** True if there was a run to stop. */
  readonly running: boolean;
  /** Number of waiting items that were dropped. */
  readonly dropped: number;
}

/** Runs queued items by key: one run at a time per key, many keys at once, fair between owners. */
export interface Lanes<Item extends LaneItem> {
  /** Adds an item. Does nothing if an item with the same id is waiting or belongs to the current run. */
  enqueue(item: Item): void;
  /** Removes a waiting item. Returns false if it is not waiting, for instance because a run has taken it. */
  withdraw(key: string, id: string): boolean;
  /**
   * Recalls an item from its run. A run without any item left is aborted with `reason`.
   *
   * @returns false if no run has the item
   */
  recall(key: string, id: string, reason: Error): boolean;
  /**
   * Replaces a waiting item with the result of `change`, or removes the item if the result is undefined. While `change`
   * is in progress, no run takes the item or a later one of its key. If `change` rejects, the item stays as it was.
   *
   * @returns `not_waiting` if the item is not waiting, for instance because a run has taken it. `change` is then not
   * called. `dropped` if the item was withdrawn or dropped while `change` was in progress
   */
  change(
    key: string,
    id: string,
    change: () => Promise<Item | undefined>,
  ): Promise<"changed" | "dropped" | "not_waiting">;
  /**
   * Aborts the run of a key with `reason` and drops waiting items.
   *
   * @param drops selects the waiting items to drop; default: all
   */
  stop(key: string, reason: Error, drops?: (item: Item) => boolean): StopResult;
  /** Aborts every run that has a matching item, and drops all matching items that are waiting. */
  stopWhere(matches: (item: Item) => boolean, reason: Error): void;
  /** Returns true if a key has a run or waiting items. */
  busy(key: string): boolean;
  /** Returns the keys that have a run or waiting items. */
  busyKeys(): readonly string[];
  waiting(key: string): readonly Item[];
  /** Returns the items of the current run that were not recalled, and the waiting ones. */
  all(key: string): readonly Item[];
  counts(): { readonly running: number; readonly waiting: number };
  /** Starts no further runs. Resolves once the active ones have ended. */
  close(): Promise<void>;
  /** Aborts every run. */
  stopAll(reason: Error): void;
}
