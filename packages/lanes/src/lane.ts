import type { Timer } from "./clock.ts";
import type { Occupant } from "./places.ts";
import type { Batch, LaneItem, LeftOut, QueueSettings } from "./types.ts";

/** A current run. */
export interface Running<Item extends LaneItem> extends Occupant {
  readonly controller: AbortController;
  readonly exclusive: boolean;
  readonly items: Item[];
  /** Ids of what it is still to answer. */
  readonly open: Set<string>;
  readonly recalled: Set<string>;
}

/** What waits under one key, and its current run. */
export class Lane<Item extends LaneItem> {
  readonly key: string;
  readonly #together: (a: Item, b: Item) => boolean;
  #waiting: Item[] = [];
  running: Running<Item> | undefined;
  /** It stands in the queue of lanes that may start a run. */
  queued = false;
  /** Stops a run that an earlier process has begun, as soon as it continues. */
  stopped: Error | undefined;
  /** Nothing more is started here: what a run has left undone would come after it. */
  left = false;
  /** Fires when nothing has come for the debounce time. */
  quiet: Timer | undefined;
  /** Fires when the first item has waited for as long as a debounce may last. */
  longest: Timer | undefined;
  /** The first items left out since the lane was idle, one for each group that may share a run. */
  readonly #told: Item[] = [];

  constructor(key: string, together: (a: Item, b: Item) => boolean) {
    this.key = key;
    this.#together = together;
  }

  get waiting(): readonly Item[] {
    return this.#waiting;
  }

  get idle(): boolean {
    return this.#waiting.length === 0 && this.running === undefined && !this.queued && !this.left;
  }

  /** What waits stands for a run that has begun. */
  get hasBegun(): boolean {
    return this.#waiting.some(({ covers }) => covers !== undefined);
  }

  cancelTimers(): void {
    this.quiet?.cancel();
    this.longest?.cancel();
    this.quiet = undefined;
    this.longest = undefined;
  }

  /** Puts an item at the end. What is beyond the cap is taken out and given back, with the reason. */
  push(item: Item, { cap, drop }: QueueSettings): { items: Item[]; why: LeftOut<Item> } | undefined {
    this.#waiting.push(item);
    const droppable = this.#waiting.filter(({ exclusive }) => !exclusive);
    const surplus = droppable.length - cap;
    if (surplus <= 0 || drop === "summarise") return undefined;
    const items = drop === "old" ? droppable.slice(0, surplus) : droppable.slice(-surplus);
    this.remove(items);
    return { items, why: { kind: "full", drop, cap, first: this.#firstOf(items) } };
  }

  remove(items: readonly Item[]): void {
    const gone = new Set(items);
    this.#waiting = this.#waiting.filter((item) => !gone.has(item));
  }

  /** What stands for a run that has begun is neither taken out nor replaced. */
  find(id: string): Item | undefined {
    return this.#waiting.find((item) => item.covers === undefined && item.id === id);
  }

  replace(before: Item, after: Item): void {
    this.#waiting = this.#waiting.map((item) => (item === before ? after : item));
  }

  /** Takes what the next run answers: everything that waits, or the first item alone; and what is beyond the cap. */
  takeBatch(settings: QueueSettings): Batch<Item> {
    const [first] = this.#waiting;
    if (first === undefined || first.exclusive) return { items: this.#waiting.splice(0, 1), summarised: [] };
    const taken = this.takeWith(first, settings);
    if (settings.mode !== "followup") return taken;
    this.#waiting.unshift(...taken.items.slice(1));
    return { items: taken.items.slice(0, 1), summarised: taken.summarised };
  }

  /** Takes the items in front that one run can answer together with `first`. */
  takeWith(first: Item, { cap }: QueueSettings): Batch<Item> {
    const end = this.#waiting.findIndex((item) => item.exclusive || !this.#together(first, item));
    const taken = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
    const surplus = Math.max(0, taken.length - cap);
    return { items: taken.slice(surplus), summarised: taken.slice(0, surplus) };
  }

  #firstOf(items: readonly Item[]): Item[] {
    return items.filter((item) => {
      if (this.#told.some((told) => this.#together(told, item))) return false;
      this.#told.push(item);
      return true;
    });
  }
}

/** The ids that an item stands for. */
export function idsOf(item: LaneItem): readonly string[] {
  return item.covers ?? [item.id];
}
