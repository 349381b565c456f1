import { type Clock, systemClock } from "./clock.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";
import { idsOf, Lane, type Running } from "./lane.ts";
import { Places } from "./places.ts";
import type { Batch, LaneItem, Lanes, LanesOptions, RunHandle, Stopped } from "./types.ts";

/** For how many times the quiet that is waited for items may be collected, and for how long, in milliseconds. */
const LONGEST_TIMES = 5;
const LONGEST_MS = 10_000;

/** How long further messages can delay a run. */
function longestDebounceMs(debounceMs: number): number {
  return Math.max(debounceMs, Math.min(LONGEST_TIMES * debounceMs, LONGEST_MS));
}

export function createLanes<Item extends LaneItem>(options: LanesOptions<Item>): Lanes<Item> {
  return new LaneSet(options);
}

class LaneSet<Item extends LaneItem> implements Lanes<Item> {
  readonly #options: LanesOptions<Item>;
  readonly #clock: Clock;
  /** Only lanes with something to do; one without work is forgotten. */
  readonly #lanes = new Map<string, Lane<Item>>();
  /** Lanes that may start a run. */
  readonly #queue: FairQueue = createFairQueue();
  readonly #places: Places;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: LanesOptions<Item>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#places = new Places(options.maxRuns);
  }

  enqueue(item: Item): void {
    const lane = this.#laneOf(this.#options.keyOf(item));
    const settings = this.#options.queue(lane.key);
    const surplus = lane.push(item, settings);
    if (surplus !== undefined) this.#options.leaveOut(surplus.items, surplus.why);
    if (settings.mode === "interrupt" && !item.exclusive && lane.running?.exclusive === false)
      lane.running.controller.abort(new Error("a newer message interrupted this turn"));
    this.#prepare(lane);
    // It may be what lets a lane start that is in the queue already.
    if (lane.queued) this.#startRuns();
  }

  withdraw(key: string, id: string): boolean {
    const lane = this.#lanes.get(key);
    const item = lane?.find(id);
    if (lane === undefined || item === undefined) return false;
    lane.remove([item]);
    this.#tidy(lane);
    return true;
  }

  recall(key: string, id: string, reason: Error): boolean {
    const run = this.#lanes.get(key)?.running;
    if (!run?.open.delete(id)) return false;
    run.recalled.add(id);
    if (run.open.size === 0) run.controller.abort(reason);
    return true;
  }

  replace(item: Item): boolean {
    const lane = this.#lanes.get(this.#options.keyOf(item));
    const before = lane?.find(item.id);
    if (before === undefined) return false;
    lane?.replace(before, item);
    return true;
  }

  stop(key: string, reason: Error, drops: (item: Item) => boolean = () => true): Stopped {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return { running: false, dropped: 0 };
    const running = lane.running !== undefined || lane.hasBegun;
    if (running) stopRun(lane, reason);
    return { running, dropped: this.#leaveOut(lane, drops) };
  }

  stopWhere(isMeant: (item: Item) => boolean, reason: Error): void {
    for (const lane of this.#lanes.values()) {
      const begun = lane.running?.items ?? lane.waiting.filter(({ covers }) => covers !== undefined);
      if (begun.some(isMeant)) stopRun(lane, reason);
      this.#leaveOut(lane, isMeant);
    }
  }

  busy(key: string): boolean {
    return this.#lanes.has(key);
  }

  waiting(key: string): readonly Item[] {
    return this.#lanes.get(key)?.waiting ?? [];
  }

  all(key: string): readonly Item[] {
    const run = this.#lanes.get(key)?.running;
    const answered = run?.items.filter((item) => idsOf(item).some((id) => run.open.has(id))) ?? [];
    return [...answered, ...this.waiting(key)];
  }

  counts(): { readonly running: number; readonly waiting: number } {
    let waiting = 0;
    for (const lane of this.#lanes.values()) waiting += lane.waiting.length;
    return { running: this.#places.running, waiting };
  }

  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    for (const lane of this.#lanes.values()) lane.cancelTimers();
    if (this.#places.running === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  stopAll(reason: Error): void {
    for (const lane of this.#lanes.values()) lane.running?.controller.abort(reason);
  }

  #laneOf(key: string): Lane<Item> {
    const existing = this.#lanes.get(key);
    if (existing !== undefined) return existing;
    const lane = new Lane<Item>(key, this.#options.together);
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Leaves out what waits, but for a run that has begun. Gives how many items that are. */
  #leaveOut(lane: Lane<Item>, drops: (item: Item) => boolean): number {
    const dropped = lane.waiting.filter((item) => item.covers === undefined && drops(item));
    if (dropped.length > 0) {
      lane.remove(dropped);
      this.#options.leaveOut(dropped, { kind: "stopped" });
    }
    this.#tidy(lane);
    return dropped.length;
  }

  /** Forgets a lane that has nothing to do. */
  #tidy(lane: Lane<Item>): void {
    if (lane.waiting.length === 0) lane.cancelTimers();
    if (lane.idle) this.#lanes.delete(lane.key);
  }

  /** Queues a lane once its items have been quiet for the debounce time, or went on for too long. */
  #prepare(lane: Lane<Item>): void {
    const last = lane.waiting.at(-1);
    const mayStart = this.#closed === undefined && !lane.left && lane.running === undefined && !lane.queued;
    if (!mayStart || last === undefined) return;
    const { debounceMs } = this.#options.queue(lane.key);
    const lineUp = (): void => this.#lineUp(lane);
    if (debounceMs === 0 || last.exclusive) {
      lineUp();
      return;
    }
    lane.quiet?.cancel();
    lane.quiet = this.#clock.after(debounceMs, lineUp);
    lane.longest ??= this.#clock.after(longestDebounceMs(debounceMs), lineUp);
  }

  #lineUp(lane: Lane<Item>): void {
    lane.cancelTimers();
    const [first] = lane.waiting;
    if (first === undefined) return;
    lane.queued = true;
    this.#queue.push(this.#options.ownerOf(first), lane.key);
    this.#startRuns();
  }

  /** Whether one of a lane's items may begin a run now. What has begun may always go on. */
  #mayStart(key: string): boolean {
    const waiting = this.waiting(key);
    return (
      waiting.length === 0 ||
      waiting.some((item) => item.covers !== undefined || this.#places.mayStart(this.#options.ownerOf(item)))
    );
  }

  #startRuns(): void {
    while (this.#closed === undefined && this.#places.free) {
      const key = this.#queue.shift((next) => this.#mayStart(next));
      if (key === undefined) return;
      const lane = this.#lanes.get(key);
      if (lane === undefined) continue;
      lane.queued = false;
      if (lane.waiting.length > 0) this.#start(lane);
      else this.#tidy(lane);
    }
  }

  #start(lane: Lane<Item>): void {
    const batch = lane.takeBatch(this.#options.queue(lane.key));
    const items = [...batch.summarised, ...batch.items];
    const [first] = items;
    if (first === undefined) return;
    const run: Running<Item> = {
      controller: new AbortController(),
      owner: this.#options.ownerOf(first),
      exclusive: items.some(({ exclusive }) => exclusive),
      items,
      open: new Set(items.flatMap(idsOf)),
      recalled: new Set(),
      standingBy: false,
    };
    lane.running = run;
    this.#places.enter();
    if (lane.stopped !== undefined) run.controller.abort(lane.stopped);
    lane.stopped = undefined;
    void this.#options.run(batch, this.#handleOf(lane, run, first)).finally(() => this.#end(lane, run));
  }

  #handleOf(lane: Lane<Item>, run: Running<Item>, first: Item): RunHandle<Item> {
    return {
      signal: run.controller.signal,
      recalled: run.recalled,
      standBy: (on) => {
        // Whoever was asked may answer a run that has ended.
        if (lane.running !== run) return;
        this.#places.standBy(run, on);
        this.#startRuns();
      },
      leave() {
        lane.left = true;
      },
      takeSteering: () => {
        const settings = this.#options.queue(lane.key);
        // A run that is being stopped answers nothing more: what comes now has the next one.
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

  #end(lane: Lane<Item>, run: Running<Item>): void {
    this.#places.leave(run);
    lane.running = undefined;
    this.#prepare(lane);
    this.#tidy(lane);
    this.#startRuns();
    if (this.#places.running === 0) this.#closed?.resolve();
  }
}

/** A run that has begun has to end as one; where an earlier process began it, it does as soon as it goes on. */
function stopRun<Item extends LaneItem>(lane: Lane<Item>, reason: Error): void {
  if (lane.running !== undefined) lane.running.controller.abort(reason);
  else lane.stopped = reason;
}

const NOTHING: Batch<never> = { items: [], summarised: [] };
