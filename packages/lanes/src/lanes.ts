import { type Clock, systemClock } from "./clock.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";
import { getIds, Lane, type LaneRun } from "./lane.ts";
import { RunSlots } from "./run-slots.ts";
import type { Batch, LaneItem, Lanes, LanesOptions, QueueSettings, RunHandle, StopResult } from "./types.ts";

/** Maximum delay of a run by further items: five times the debounce time, but at most ten seconds. */
const MAX_DEBOUNCE_FACTOR = 5;
const MAX_DEBOUNCE_MS = 10_000;

const DEFAULT_SETTINGS: QueueSettings = { mode: "steer", debounceMs: 0, cap: 20, drop: "summarise" };

function getMaxDebounceMs(debounceMs: number): number {
  return Math.max(debounceMs, Math.min(MAX_DEBOUNCE_FACTOR * debounceMs, MAX_DEBOUNCE_MS));
}

/**
 * Creates lanes: queues that run work under keys, one run at a time for each key.
 *
 * @example
 * ```ts
 * const lanes = createLanes<{ id: string; room: string }>({
 *   maxRuns: () => 8,
 *   getKey: (job) => job.room,
 *   run: async ({ items }, { signal }) => console.log(items, signal.aborted),
 * });
 * lanes.enqueue({ id: "1", room: "kitchen" });
 * await lanes.close();
 * ```
 */
export function createLanes<Item extends LaneItem>(options: LanesOptions<Item>): Lanes<Item> {
  const {
    getOwner = options.getKey,
    isPrivileged = () => true,
    mayShareRun = () => true,
    getQueueSettings = () => DEFAULT_SETTINGS,
    onDropped = () => {},
    onError = (error) => console.error("A run failed:", error),
    clock = systemClock,
  } = options;
  return new LaneSet({
    ...options,
    getOwner,
    isPrivileged,
    mayShareRun,
    getQueueSettings,
    onDropped,
    onError,
    clock,
  });
}

class LaneSet<Item extends LaneItem> implements Lanes<Item> {
  readonly #options: Required<LanesOptions<Item>>;
  readonly #clock: Clock;
  /** Lanes with waiting items or a run. Idle ones are removed. */
  readonly #lanes = new Map<string, Lane<Item>>();
  /** Keys of lanes that are ready to start a run. */
  readonly #queue: FairQueue = createFairQueue();
  readonly #slots: RunSlots;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: Required<LanesOptions<Item>>) {
    this.#options = options;
    this.#clock = options.clock;
    this.#slots = new RunSlots(options.maxRuns);
  }

  enqueue(item: Item): void {
    const lane = this.#getLane(this.#options.getKey(item));
    const isHere = lane.find(item.id) !== undefined || lane.run?.open.has(item.id) === true;
    if (isHere && item.covers === undefined) return;
    const settings = this.#options.getQueueSettings(lane.key);
    const surplus = lane.push(item, settings);
    if (surplus !== undefined) this.#options.onDropped(surplus.items, surplus.reason);
    if (settings.mode === "interrupt" && !item.exclusive && lane.run?.exclusive === false)
      lane.run.controller.abort(new Error("A newer message interrupted this run."));
    // The lane may have been queued without an item whose owner was permitted to start.
    if (lane.queued) this.#startIfPermitted(lane);
    else this.#prepare(lane);
  }

  withdraw(key: string, id: string): boolean {
    const lane = this.#lanes.get(key);
    const item = lane?.find(id);
    if (lane === undefined || item === undefined) return false;
    lane.remove([item]);
    this.#removeIfIdle(lane);
    return true;
  }

  recall(key: string, id: string, reason: Error): boolean {
    const run = this.#lanes.get(key)?.run;
    if (!run?.open.delete(id)) return false;
    run.recalled.add(id);
    if (run.open.size === 0) run.controller.abort(reason);
    return true;
  }

  async change(
    key: string,
    id: string,
    change: () => Promise<Item | undefined>,
  ): Promise<"changed" | "dropped" | "not_waiting"> {
    const lane = this.#lanes.get(key);
    if (lane?.find(id) === undefined) return "not_waiting";
    try {
      const after = await lane.keepWaiting(id, change);
      const before = lane.find(id);
      if (before === undefined) return "dropped";
      if (after === undefined) lane.remove([before]);
      else lane.replace(before, after);
      return "changed";
    } finally {
      // The lane may have become empty during the change, and a new one may have replaced it.
      if (this.#lanes.get(key) === lane) {
        this.#prepare(lane);
        this.#removeIfIdle(lane);
      }
    }
  }

  stop(key: string, reason: Error, drops: (item: Item) => boolean = () => true): StopResult {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return { running: false, dropped: 0 };
    const running = lane.run !== undefined || lane.hasBegun;
    if (running) stopRun(lane, reason);
    return { running, dropped: this.#drop(lane, drops) };
  }

  stopWhere(matches: (item: Item) => boolean, reason: Error): void {
    for (const lane of this.#lanes.values()) {
      const begun = lane.run?.items ?? lane.waiting.filter(({ covers }) => covers !== undefined);
      if (begun.some(matches)) stopRun(lane, reason);
      this.#drop(lane, matches);
    }
  }

  busy(key: string): boolean {
    return this.#lanes.has(key);
  }

  busyKeys(): readonly string[] {
    return [...this.#lanes.keys()];
  }

  waiting(key: string): readonly Item[] {
    return this.#lanes.get(key)?.waiting ?? [];
  }

  all(key: string): readonly Item[] {
    const run = this.#lanes.get(key)?.run;
    const running = run?.items.filter((item) => getIds(item).some((id) => run.open.has(id))) ?? [];
    return [...running, ...this.waiting(key)];
  }

  counts(): { readonly running: number; readonly waiting: number } {
    let waiting = 0;
    for (const lane of this.#lanes.values()) waiting += lane.waiting.length;
    return { running: this.#slots.running, waiting };
  }

  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    for (const lane of this.#lanes.values()) lane.cancelTimers();
    if (this.#slots.running === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  stopAll(reason: Error): void {
    for (const lane of this.#lanes.values()) lane.run?.controller.abort(reason);
  }

  #getLane(key: string): Lane<Item> {
    const existing = this.#lanes.get(key);
    if (existing !== undefined) return existing;
    const { mayShareRun, isPrivileged } = this.#options;
    const isUrgent = (item: Item): boolean => item.covers !== undefined || isPrivileged(item);
    const lane = new Lane<Item>(key, mayShareRun, isUrgent);
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Drops waiting items, except for a run of an earlier process. Returns their number. */
  #drop(lane: Lane<Item>, drops: (item: Item) => boolean): number {
    const dropped = lane.waiting.filter((item) => item.covers === undefined && drops(item));
    if (dropped.length > 0) {
      lane.remove(dropped);
      this.#options.onDropped(dropped, { kind: "stopped" });
    }
    this.#removeIfIdle(lane);
    return dropped.length;
  }

  #removeIfIdle(lane: Lane<Item>): void {
    if (lane.waiting.length === 0) lane.cancelTimers();
    if (lane.idle) this.#lanes.delete(lane.key);
  }

  /** Queues a lane for a run once no item has arrived for the debounce time, or the maximum debounce time is over. */
  #prepare(lane: Lane<Item>): void {
    const last = lane.waiting.at(-1);
    const mayStart = this.#closed === undefined && !lane.blocked && lane.run === undefined && !lane.queued;
    if (!mayStart || last === undefined || !lane.isReady) return;
    const { debounceMs } = this.#options.getQueueSettings(lane.key);
    const enter = (): void => this.#enterQueue(lane);
    if (debounceMs === 0 || last.exclusive) {
      enter();
      return;
    }
    lane.quietTimer?.cancel();
    lane.quietTimer = this.#clock.after(debounceMs, enter);
    lane.maxTimer ??= this.#clock.after(getMaxDebounceMs(debounceMs), enter);
  }

  #enterQueue(lane: Lane<Item>): void {
    lane.cancelTimers();
    const [first] = lane.waiting;
    if (first === undefined || !lane.isReady) return;
    lane.queued = true;
    this.#queue.push(this.#options.getOwner(first), lane.key);
    this.#startIfPermitted(lane);
  }

  /** Starts runs if this lane may start one. A new item cannot enable a run of another lane. */
  #startIfPermitted(lane: Lane<Item>): void {
    if (this.#mayStart(lane.key)) this.#startRuns();
  }

  /** Returns true if one of the lane's items may start a run now. A run of an earlier process may always continue. */
  #mayStart(key: string): boolean {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return true;
    const { waiting } = lane;
    // Avoid reading a long backlog after each run while only reserved slots are free.
    if (waiting.length > 0 && !this.#slots.hasUnreserved && !lane.hasUrgent) return false;
    const { getOwner, isPrivileged } = this.#options;
    const mayStart = (item: Item) =>
      this.#slots.mayStart({ owner: getOwner(item), isPrivileged: isPrivileged(item) });
    return waiting.length === 0 || waiting.some((item) => item.covers !== undefined || mayStart(item));
  }

  #startRuns(): void {
    while (this.#closed === undefined && this.#slots.hasFree) {
      const key = this.#queue.shift((next) => this.#mayStart(next));
      if (key === undefined) return;
      const lane = this.#lanes.get(key);
      if (lane === undefined) continue;
      lane.queued = false;
      if (lane.isReady) this.#start(lane);
      else this.#removeIfIdle(lane);
    }
  }

  #start(lane: Lane<Item>): void {
    const batch = lane.takeBatch(this.#options.getQueueSettings(lane.key));
    const items = [...batch.summarised, ...batch.items];
    const [first] = items;
    if (first === undefined) return;
    const run: LaneRun<Item> = {
      controller: new AbortController(),
      owner: this.#options.getOwner(first),
      exclusive: items.some(({ exclusive }) => exclusive),
      items,
      open: new Set(items.flatMap(getIds)),
      recalled: new Set(),
      standingBy: false,
    };
    lane.run = run;
    this.#slots.enter(run);
    if (lane.stopReason !== undefined) run.controller.abort(lane.stopReason);
    lane.stopReason = undefined;
    void this.#execute(batch, this.#createHandle(lane, run, first)).finally(() => this.#end(lane, run));
  }

  /** Never rejects, because a failed run must neither end the process nor block its lane. */
  async #execute(batch: Batch<Item>, handle: RunHandle<Item>): Promise<void> {
    try {
      await this.#options.run(batch, handle);
    } catch (error) {
      this.#options.onError(error, batch);
    }
  }

  #createHandle(lane: Lane<Item>, run: LaneRun<Item>, first: Item): RunHandle<Item> {
    return {
      signal: run.controller.signal,
      recalled: run.recalled,
      standBy: (on) => {
        // A person may respond to a run that has already ended.
        if (lane.run !== run) return;
        this.#slots.standBy(run, on);
        this.#startRuns();
      },
      block() {
        lane.blocked = true;
      },
      takeSteering: () => {
        const settings = this.#options.getQueueSettings(lane.key);
        // Items that arrive while a run is being stopped wait for the next run.
        const open = settings.mode === "steer" && !run.exclusive && !run.controller.signal.aborted;
        if (!open) return NOTHING;
        const taken: Batch<Item> = lane.takeWith(first, settings);
        for (const item of [...taken.summarised, ...taken.items]) {
          run.items.push(item);
          run.open.add(item.id);
        }
        return taken;
      },
    };
  }

  #end(lane: Lane<Item>, run: LaneRun<Item>): void {
    this.#slots.leave(run);
    lane.run = undefined;
    this.#prepare(lane);
    this.#removeIfIdle(lane);
    this.#startRuns();
    if (this.#slots.running === 0) this.#closed?.resolve();
  }
}

/** Aborts the run of a lane. A run of an earlier process is aborted as soon as it continues, so that it can end. */
function stopRun<Item extends LaneItem>(lane: Lane<Item>, reason: Error): void {
  if (lane.run !== undefined) lane.run.controller.abort(reason);
  else lane.stopReason = reason;
}

const NOTHING: Batch<never> = { items: [], summarised: [] };
