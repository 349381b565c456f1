import type { InboxId } from "@signalbox/store";
import { createLine } from "./lanes-line.ts";
import type { Batch, LaneOptions, Lanes, QueueSettings, RunHandle, Waiting } from "./lanes-types.ts";

interface Running<M extends Waiting> {
  readonly controller: AbortController;
  readonly owner: string;
  readonly exclusive: boolean;
  readonly messages: M[];
  /** What it is still to answer. */
  readonly open: Set<InboxId>;
  readonly recalled: Set<InboxId>;
  /** It does nothing but wait for a person. */
  waits: boolean;
}

interface Lane<M extends Waiting> {
  waiting: M[];
  running: Running<M> | undefined;
  /** Waits for a free place in the line of sessions. */
  ready: boolean;
  /** Fires when nothing has come for the debounce time. */
  quiet: NodeJS.Timeout | undefined;
  /** Fires when the first message has waited for as long as a debounce may last. */
  longest: NodeJS.Timeout | undefined;
  held: boolean;
  /** Stops a run that an earlier process or try has begun, as soon as it goes on. */
  stopped: Error | undefined;
  /** The first messages left out since the lane began, one for each place. */
  readonly told: M[];
}

/** For how many times the quiet that is waited for messages may be collected, and for how long, in milliseconds. */
const LONGEST_TIMES = 5;
const LONGEST_MS = 10_000;

/**
 * How many times as many runs as may go on may wait for people beside them. A run that waits holds its memory, so those
 * beyond that hold a place, too.
 */
const WAITING_TIMES = 4;

/** How many times as many one sender may leave waiting before others of theirs start. */
const WAITING_TIMES_EACH = 2;

/** How long somebody who goes on writing can put off a run. */
function longestDebounceMs(debounceMs: number): number {
  return Math.max(debounceMs, Math.min(LONGEST_TIMES * debounceMs, LONGEST_MS));
}

export function createLanes<M extends Waiting>(options: LaneOptions<M>): Lanes<M> {
  /** Only sessions with something to do; a lane without work is forgotten. */
  const lanes = new Map<string, Lane<M>>();
  /** Sessions that may start a run. */
  const line = createLine();
  let running = 0;
  /** How many of them only wait for a person, also by the owners of the runs; of none nothing is kept. */
  let asking = 0;
  const askingOf = new Map<string, number>();
  let closed = false;
  let onIdle: (() => void) | undefined;

  const laneOf = (sessionKey: string): Lane<M> => {
    const existing = lanes.get(sessionKey);
    if (existing) return existing;
    const lane: Lane<M> = {
      ...{ waiting: [], running: undefined, ready: false, held: false, told: [] },
      ...{ quiet: undefined, longest: undefined, stopped: undefined },
    };
    lanes.set(sessionKey, lane);
    return lane;
  };

  const forgetIfIdle = (sessionKey: string, lane: Lane<M>): void => {
    if (lane.waiting.length === 0) clearTimers(lane);
    const idle = lane.waiting.length === 0 && !lane.running && !lane.ready && !lane.held;
    if (idle) lanes.delete(sessionKey);
  };

  const clearTimers = (lane: Lane<M>): void => {
    clearTimeout(lane.quiet);
    clearTimeout(lane.longest);
    lane.quiet = undefined;
    lane.longest = undefined;
  };

  /** Puts a session in the line once its messages have been quiet for the debounce time, or went on for too long. */
  const makeReady = (sessionKey: string, lane: Lane<M>): void => {
    if (closed || lane.running || lane.ready || lane.held || lane.waiting.length === 0) return;
    const { debounceMs } = options.queue(sessionKey);
    if (debounceMs === 0 || lane.waiting.at(-1)?.exclusive !== false) {
      lineUp(sessionKey, lane);
      return;
    }
    clearTimeout(lane.quiet);
    lane.quiet = setTimeout(lineUp, debounceMs, sessionKey, lane);
    lane.longest ??= setTimeout(lineUp, longestDebounceMs(debounceMs), sessionKey, lane);
  };

  const lineUp = (sessionKey: string, lane: Lane<M>): void => {
    clearTimers(lane);
    const [first] = lane.waiting;
    if (first === undefined) return;
    lane.ready = true;
    line.push(options.ownerOf(first), sessionKey);
    startRuns();
  };

  /** How many places are taken; more than there are, for a while, where runs that waited for people go on. */
  const places = (): number => running - Math.min(asking, WAITING_TIMES * options.maxRuns);

  const setWaits = (run: Running<M>, on: boolean): void => {
    if (run.waits === on) return;
    run.waits = on;
    asking += on ? 1 : -1;
    const own = (askingOf.get(run.owner) ?? 0) + (on ? 1 : -1);
    if (own === 0) askingOf.delete(run.owner);
    else askingOf.set(run.owner, own);
  };

  /** Whether one of a session's messages may begin a run now. What has begun may always go on. */
  const mayStart = (sessionKey: string): boolean => {
    const waiting = lanes.get(sessionKey)?.waiting ?? [];
    const most = WAITING_TIMES_EACH * options.maxRuns;
    return (
      waiting.length === 0 ||
      waiting.some(
        (message) => message.covers !== undefined || (askingOf.get(options.ownerOf(message)) ?? 0) < most,
      )
    );
  };

  const startRuns = (): void => {
    while (!closed && places() < options.maxRuns) {
      const sessionKey = line.shift(mayStart);
      if (sessionKey === undefined) return;
      const lane = lanes.get(sessionKey);
      if (!lane) continue;
      lane.ready = false;
      if (lane.waiting.length > 0) start(sessionKey, lane);
      else forgetIfIdle(sessionKey, lane);
    }
  };

  const start = (sessionKey: string, lane: Lane<M>): void => {
    const batch = takeBatch(lane, options.queue(sessionKey));
    const messages = [...batch.summarised, ...batch.messages];
    const [first] = messages;
    const run: Running<M> = {
      controller: new AbortController(),
      owner: first === undefined ? "" : options.ownerOf(first),
      exclusive: messages.some((message) => message.exclusive),
      messages,
      open: new Set(messages.flatMap(idsOf)),
      recalled: new Set(),
      waits: false,
    };
    lane.running = run;
    running++;
    if (lane.stopped !== undefined) run.controller.abort(lane.stopped);
    lane.stopped = undefined;
    const handle: RunHandle<M> = {
      signal: run.controller.signal,
      recalled: run.recalled,
      waits(on) {
        // Whoever was asked may answer a run that has ended.
        if (lane.running !== run) return;
        setWaits(run, on);
        startRuns();
      },
      takeSteering: () => {
        const settings = options.queue(sessionKey);
        // A turn that is being stopped answers nothing more: what comes now has the next one.
        const open = settings.mode === "steer" && !run.exclusive && !run.controller.signal.aborted;
        if (!open || first === undefined) return { messages: [], summarised: [] };
        const taken = withinCap(takeWith(lane, first), settings);
        for (const message of [...taken.summarised, ...taken.messages]) {
          run.messages.push(message);
          run.open.add(message.id);
        }
        return taken;
      },
    };
    void options.run(batch, handle).finally(() => {
      setWaits(run, false);
      running--;
      lane.running = undefined;
      makeReady(sessionKey, lane);
      forgetIfIdle(sessionKey, lane);
      startRuns();
      if (running === 0) onIdle?.();
    });
  };

  /** What one run answers: everything that waits, or the first message alone; and what is beyond the cap, in short. */
  const takeBatch = (lane: Lane<M>, settings: QueueSettings): Batch<M> => {
    const first = lane.waiting[0];
    if (first === undefined || first.exclusive) {
      return { messages: lane.waiting.splice(0, 1), summarised: [] };
    }
    const taken = withinCap(takeWith(lane, first), settings);
    if (settings.mode !== "followup") return taken;
    lane.waiting.unshift(...taken.messages.slice(1));
    return { messages: taken.messages.slice(0, 1), summarised: taken.summarised };
  };

  /** The messages in front that one run can answer together with `first`. */
  const takeWith = (lane: Lane<M>, first: M): M[] => {
    const end = lane.waiting.findIndex((message) => message.exclusive || !options.together(first, message));
    return lane.waiting.splice(0, end < 0 ? lane.waiting.length : end);
  };

  const withinCap = (taken: readonly M[], { cap }: QueueSettings): Batch<M> => {
    const surplus = Math.max(0, taken.length - cap);
    return { messages: taken.slice(surplus), summarised: taken.slice(0, surplus) };
  };

  const applyCap = (lane: Lane<M>, { cap, drop }: QueueSettings): void => {
    const droppable = lane.waiting.filter((message) => !message.exclusive);
    const surplus = droppable.length - cap;
    if (surplus <= 0 || drop === "summarise") return;
    const dropped = new Set(drop === "old" ? droppable.slice(0, surplus) : droppable.slice(-surplus));
    lane.waiting = lane.waiting.filter((message) => !dropped.has(message));
    const first: M[] = [];
    for (const message of dropped) {
      if (lane.told.some((one) => options.together(one, message))) continue;
      lane.told.push(message);
      first.push(message);
    }
    options.leaveOut([...dropped], { kind: "full", drop, cap, first });
  };

  return {
    enqueue(message) {
      const lane = laneOf(message.sessionKey);
      const settings = options.queue(message.sessionKey);
      lane.waiting.push(message);
      applyCap(lane, settings);
      if (settings.mode === "interrupt" && !message.exclusive && lane.running?.exclusive === false) {
        lane.running.controller.abort(new Error("a newer message interrupted this turn"));
      }
      makeReady(message.sessionKey, lane);
      // It may be what lets a session start that is in the line already.
      if (lane.ready) startRuns();
    },
    hold(sessionKey) {
      laneOf(sessionKey).held = true;
    },
    putBack(sessionKey, messages) {
      const lane = laneOf(sessionKey);
      lane.held = false;
      if (messages.length === 0) lane.stopped = undefined;
      lane.waiting.unshift(...messages);
      makeReady(sessionKey, lane);
      forgetIfIdle(sessionKey, lane);
    },
    withdraw(sessionKey, id) {
      const lane = lanes.get(sessionKey);
      const index = lane?.waiting.findIndex((one) => one.covers === undefined && one.id === id) ?? -1;
      if (!lane || index < 0) return false;
      lane.waiting.splice(index, 1);
      forgetIfIdle(sessionKey, lane);
      return true;
    },
    recall(sessionKey, id, reason) {
      const run = lanes.get(sessionKey)?.running;
      if (!run?.open.delete(id)) return false;
      run.recalled.add(id);
      if (run.open.size === 0) run.controller.abort(reason);
      return true;
    },
    replace(message) {
      const lane = lanes.get(message.sessionKey);
      const index = lane?.waiting.findIndex((one) => one.covers === undefined && one.id === message.id) ?? -1;
      if (!lane || index < 0) return false;
      lane.waiting.splice(index, 1, message);
      return true;
    },
    stop(sessionKey, reason, before) {
      const lane = lanes.get(sessionKey);
      if (!lane) return { running: false, dropped: 0 };
      lane.running?.controller.abort(reason);
      // A run that has begun has to end as one; it does as soon as it goes on.
      const begun = lane.held || lane.waiting.some((message) => message.covers !== undefined);
      if (!lane.running && begun) lane.stopped = reason;
      const dropped = lane.waiting.filter(
        (message) => message.covers === undefined && (before === undefined || message.id < before),
      );
      if (dropped.length > 0) {
        lane.waiting = lane.waiting.filter((message) => !dropped.includes(message));
        options.leaveOut(dropped, { kind: "stopped" });
      }
      const met = { running: lane.running !== undefined || begun, dropped: dropped.length };
      forgetIfIdle(sessionKey, lane);
      return met;
    },
    busy: (sessionKey) => lanes.has(sessionKey),
    waiting: (sessionKey) => lanes.get(sessionKey)?.waiting ?? [],
    all(sessionKey) {
      const lane = lanes.get(sessionKey);
      const run = lane?.running;
      const answered = run?.messages.filter((message) => idsOf(message).some((id) => run.open.has(id))) ?? [];
      return [...answered, ...(lane?.waiting ?? [])];
    },
    counts() {
      let waiting = 0;
      for (const lane of lanes.values()) waiting += lane.waiting.length;
      return { running, waiting };
    },
    close() {
      closed = true;
      for (const lane of lanes.values()) clearTimers(lane);
      if (running === 0) return Promise.resolve();
      return new Promise((resolve) => {
        onIdle = resolve;
      });
    },
    stopAll(reason) {
      for (const lane of lanes.values()) lane.running?.controller.abort(reason);
    },
  };
}

function idsOf(message: Waiting): readonly InboxId[] {
  return message.covers ?? [message.id];
}
