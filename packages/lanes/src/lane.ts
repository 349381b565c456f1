import type { Timer } from "./clock.ts";
import type { SlotHolder } from "./run-slots.ts";
import type { Batch, Dropped, LaneItem, QueueSettings } from "./types.ts";

/** The current run of a lane. */
export interface LaneRun<Item extends LaneItem> extends SlotHolder {
  readonly controller: AbortController;
  readonly exclusive: boolean;
  readonly items: Item[];
  /** Ids of the run's items that were not recalled. */
  readonly open: Set<string>;
  readonly recalled: Set<string>;
}

/** The waiting items of one key, and its current run. */
export class Lane<Item extends LaneItem> {
  readonly key: string;
  readonly #mayShareRun: (a: Item, b: Item) => boolean;
  readonly #isUrgent: (item: Item) => boolean;
  #waiting: readonly Item[] = [];
  /** Cached value of {@link hasUrgent}. Undefined after a change of the waiting items. */
  #hasUrgent: boolean | undefined;
  run: LaneRun<Item> | undefined;
  /** True if the lane is in the queue of lanes that are ready to start a run. */
  queued = false;
  /** The reason to abort a run of an earlier process as soon as it continues here. */
  stopReason: Error | undefined;
  /** True if a run has blocked the lane. No further run starts. */
  blocked = false;
  /** Fires if no item has arrived for the debounce time. */
  quietTimer: Timer | undefined;
  /** Fires when the first item has waited for the maximum debounce time. */
  maxTimer: Timer | undefined;
  /** Number of changes in progress, by the id of the item. */
  readonly #changing = new Map<string, number>();
  /** The first items that were dropped since the lane was idle, one for each group of items that may share a run. */
  readonly #firstDropped: Item[] = [];

  /** @param isUrgent returns true for items that may use a reserved slot */
  constructor(key: string, mayShareRun: (a: Item, b: Item) => boolean, isUrgent: (item: Item) => boolean) {
    this.key = key;
    this.#mayShareRun = mayShareRun;
    this.#isUrgent = isUrgent;
  }

  get waiting(): readonly Item[] {
    return this.#waiting;
  }

  /** True if one of the waiting items may use a reserved slot. */
  get hasUrgent(): boolean {
    this.#hasUrgent ??= this.#waiting.some(this.#isUrgent);
    return this.#hasUrgent;
  }

  get idle(): boolean {
    return this.#waiting.length === 0 && this.run === undefined && !this.queued && !this.blocked;
  }

  /** True if a run may take the first waiting item. */
  get isReady(): boolean {
    const [first] = this.#waiting;
    return first !== undefined && !this.#isChanging(first);
  }

  /** True if a run of an earlier process waits to continue. */
  get hasBegun(): boolean {
    return this.#waiting.some(({ covers }) => covers !== undefined);
  }

  cancelTimers(): void {
    this.quietTimer?.cancel();
    this.maxTimer?.cancel();
    this.quietTimer = undefined;
    this.maxTimer = undefined;
  }

  /** Appends an item. Removes the items beyond the cap and returns them with the reason. */
  push(item: Item, { cap, drop }: QueueSettings): { items: Item[]; reason: Dropped<Item> } | undefined {
    this.#setWaiting([...this.#waiting, item]);
    const droppable = this.#waiting.filter(({ exclusive }) => exclusive !== true);
    const surplus = droppable.length - cap;
    if (surplus <= 0 || drop === "summarise") return undefined;
    const items = drop === "old" ? droppable.slice(0, surplus) : droppable.slice(-surplus);
    this.remove(items);
    return { items, reason: { kind: "full", drop, cap, first: this.#takeFirst(items) } };
  }

  remove(items: readonly Item[]): void {
    const removed = new Set(items);
    this.#setWaiting(this.#waiting.filter((item) => !removed.has(item)));
  }

  /** Returns a waiting item, unless it represents a run of an earlier process. */
  find(id: string): Item | undefined {
    return this.#waiting.find((item) => item.covers === undefined && item.id === id);
  }

  replace(before: Item, after: Item): void {
    this.#setWaiting(this.#waiting.map((item) => (item === before ? after : item)));
  }

  /** Prevents runs from taking a waiting item, or a later one, while `work` is in progress. */
  async keepWaiting<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#changing.set(id, (this.#changing.get(id) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#changing.get(id) ?? 0) - 1;
      if (left > 0) this.#changing.set(id, left);
      else this.#changing.delete(id);
    }
  }

  #isChanging({ id, covers }: Item): boolean {
    return covers === undefined && this.#changing.has(id);
  }

  /**
   * Takes the items of the next run: all items that can share a run. Takes only the first item if it is exclusive or
   * the mode is `followup`.
   */
  takeBatch(settings: QueueSettings): Batch<Item> {
    const [first] = this.#waiting;
    if (first === undefined || !this.isReady) return { items: [], summarised: [] };
    if (first.exclusive) return { items: this.#take(1), summarised: [] };
    const taken = this.takeWith(first, settings);
    if (settings.mode !== "followup") return taken;
    this.#setWaiting([...taken.items.slice(1), ...this.#waiting]);
    return { items: taken.items.slice(0, 1), summarised: taken.summarised };
  }

  /** Takes the items at the front of the lane that may share a run with `first`. */
  takeWith(first: Item, { cap }: QueueSettings): Batch<Item> {
    const end = this.#waiting.findIndex(
      (item) => item.exclusive || this.#isChanging(item) || !this.#mayShareRun(first, item),
    );
    const taken = this.#take(end < 0 ? this.#waiting.length : end);
    const surplus = Math.max(0, taken.length - cap);
    return { items: taken.slice(surplus), summarised: taken.slice(0, surplus) };
  }

  #setWaiting(waiting: readonly Item[]): void {
    this.#waiting = waiting;
    this.#hasUrgent = undefined;
  }

  #take(count: number): readonly Item[] {
    const taken = this.#waiting.slice(0, count);
    this.#setWaiting(this.#waiting.slice(count));
    return taken;
  }

  #takeFirst(items: readonly Item[]): Item[] {
    return items.filter((item) => {
      if (this.#firstDropped.some((dropped) => this.#mayShareRun(dropped, item))) return false;
      this.#firstDropped.push(item);
      return true;
    });
  }
}

/** Returns the ids of the items that an item represents. */
export function getIds(item: LaneItem): readonly string[] {
  return item.covers ?? [item.id];
}
