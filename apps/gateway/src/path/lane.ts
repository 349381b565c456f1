import type { InboxId } from "@signalbox/store";

/** How messages that come while a run goes on are treated. */
type QueueMode = "steer" | "followup" | "collect" | "interrupt";

/** What happens to messages beyond the cap: the oldest are told in short, or dropped, or the newest are dropped. */
type DropPolicy = "summarise" | "old" | "new";

export interface QueueSettings {
  readonly mode: QueueMode;
  /** Milliseconds of quiet before a run starts. */
  readonly debounceMs: number;
  /** Messages that may wait in one session. */
  readonly cap: number;
  readonly drop: DropPolicy;
}

/** What a lane needs to know of a waiting message. */
export interface Waiting {
  readonly id: InboxId;
  readonly sessionKey: string;
  /** Must have a run of its own: its sender waits for exactly its answer. */
  readonly exclusive: boolean;
}

/** The messages of one run. */
export interface Batch<M extends Waiting> {
  readonly messages: readonly M[];
  /** Older messages beyond the cap, to be told in short and to end with this run. */
  readonly summarised: readonly M[];
}

/** A running turn's side of its lane. */
export interface RunHandle<M extends Waiting> {
  /** Ends when the turn is to stop. */
  readonly signal: AbortSignal;
  /** Messages that came meanwhile and steer this run; they are its own from then on. */
  takeSteering(): readonly M[];
}

export interface LaneOptions<M extends Waiting> {
  /** Runs at the same time, over all sessions. */
  readonly maxRuns: number;
  readonly queue: (sessionKey: string) => QueueSettings;
  /** Whether two messages of a session may share a run: its one reply must reach the senders of both. */
  readonly together: (a: M, b: M) => boolean;
  /** Answers a batch. Must not reject. */
  readonly run: (batch: Batch<M>, handle: RunHandle<M>) => Promise<void>;
  /** Ends messages that the drop policy leaves out. */
  readonly drop: (messages: readonly M[]) => void;
}

/** One run a session, many sessions at once, fair between them. */
export interface Lanes<M extends Waiting> {
  enqueue(message: M): void;
  /** Starts no run of this session until something is put back: what comes meanwhile must not overtake it. */
  hold(sessionKey: string): void;
  /** Puts messages back in front of what waits: their run could not be, or could not go on. Ends a hold. */
  putBack(sessionKey: string, messages: readonly M[]): void;
  /** Takes a message back that waits; false where a run has it. */
  withdraw(sessionKey: string, id: InboxId): boolean;
  /** Replaces a waiting message by its later version. */
  replace(message: M): boolean;
  /** Stops the running turn; false where none runs. `reason` becomes its signal's. */
  stop(sessionKey: string, reason: Error): boolean;
  busy(sessionKey: string): boolean;
  waiting(sessionKey: string): readonly M[];
  counts(): { readonly running: number; readonly waiting: number };
  /** Starts no more runs; resolves when the running ones have ended. */
  close(): Promise<void>;
  /** Stops every running turn. */
  stopAll(reason: Error): void;
}

interface Lane<M extends Waiting> {
  waiting: M[];
  running: { readonly controller: AbortController; readonly exclusive: boolean } | undefined;
  /** Waits for a free place in the line of sessions. */
  ready: boolean;
  timer: NodeJS.Timeout | undefined;
  held: boolean;
}

export function createLanes<M extends Waiting>(options: LaneOptions<M>): Lanes<M> {
  /** Only sessions with something to do; a lane without work is forgotten. */
  const lanes = new Map<string, Lane<M>>();
  /** Sessions that may start a run, the one that waited longest first. */
  const line: string[] = [];
  let running = 0;
  let closed = false;
  let onIdle: (() => void) | undefined;

  const laneOf = (sessionKey: string): Lane<M> => {
    const existing = lanes.get(sessionKey);
    if (existing) return existing;
    const lane: Lane<M> = { waiting: [], running: undefined, ready: false, timer: undefined, held: false };
    lanes.set(sessionKey, lane);
    return lane;
  };

  const forgetIfIdle = (sessionKey: string, lane: Lane<M>): void => {
    const idle = lane.waiting.length === 0 && !lane.running && !lane.ready && !lane.timer && !lane.held;
    if (idle) lanes.delete(sessionKey);
  };

  /** Puts a session in the line once its messages have been quiet for the debounce time. */
  const makeReady = (sessionKey: string, lane: Lane<M>): void => {
    if (lane.running || lane.ready || lane.held || lane.waiting.length === 0) return;
    const { debounceMs } = options.queue(sessionKey);
    clearTimeout(lane.timer);
    lane.timer = undefined;
    if (debounceMs > 0 && lane.waiting.at(-1)?.exclusive === false) {
      lane.timer = setTimeout(() => {
        lane.timer = undefined;
        lineUp(sessionKey, lane);
      }, debounceMs);
    } else lineUp(sessionKey, lane);
  };

  const lineUp = (sessionKey: string, lane: Lane<M>): void => {
    lane.ready = true;
    line.push(sessionKey);
    startRuns();
  };

  const startRuns = (): void => {
    while (!closed && running < options.maxRuns) {
      const sessionKey = line.shift();
      if (sessionKey === undefined) return;
      const lane = lanes.get(sessionKey);
      if (!lane) continue;
      lane.ready = false;
      if (lane.waiting.length > 0) start(sessionKey, lane);
      else forgetIfIdle(sessionKey, lane);
    }
  };

  const start = (sessionKey: string, lane: Lane<M>): void => {
    const batch = takeBatch(lane, options.queue(sessionKey).mode);
    const controller = new AbortController();
    const [first] = batch.messages;
    lane.running = { controller, exclusive: batch.messages.some((message) => message.exclusive) };
    running++;
    const handle: RunHandle<M> = {
      signal: controller.signal,
      takeSteering: () => {
        if (options.queue(sessionKey).mode !== "steer" || lane.running?.exclusive === true) return [];
        return first === undefined ? [] : takeWith(lane, first);
      },
    };
    void options.run(batch, handle).finally(() => {
      running--;
      lane.running = undefined;
      makeReady(sessionKey, lane);
      forgetIfIdle(sessionKey, lane);
      startRuns();
      if (running === 0) onIdle?.();
    });
  };

  /** What one run answers: everything that waits, or the first message alone. */
  const takeBatch = (lane: Lane<M>, mode: QueueMode): Batch<M> => {
    const first = lane.waiting[0];
    if (mode === "followup" || first?.exclusive === true) {
      return { messages: lane.waiting.splice(0, 1), summarised: [] };
    }
    const taken = first === undefined ? [] : takeWith(lane, first);
    const cap = first === undefined ? taken.length : options.queue(first.sessionKey).cap;
    const surplus = Math.max(0, taken.length - cap);
    return { messages: taken.slice(surplus), summarised: taken.slice(0, surplus) };
  };

  /** The messages in front that one run can answer together with `first`. */
  const takeWith = (lane: Lane<M>, first: M): M[] => {
    const end = lane.waiting.findIndex((message) => message.exclusive || !options.together(first, message));
    return lane.waiting.splice(0, end < 0 ? lane.waiting.length : end);
  };

  const applyCap = (lane: Lane<M>, settings: QueueSettings): void => {
    const droppable = lane.waiting.filter((message) => !message.exclusive);
    const surplus = droppable.length - settings.cap;
    if (surplus <= 0 || settings.drop === "summarise") return;
    const dropped = new Set(
      settings.drop === "old" ? droppable.slice(0, surplus) : droppable.slice(-surplus),
    );
    lane.waiting = lane.waiting.filter((message) => !dropped.has(message));
    options.drop([...dropped]);
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
    },
    hold(sessionKey) {
      laneOf(sessionKey).held = true;
    },
    putBack(sessionKey, messages) {
      const lane = laneOf(sessionKey);
      lane.held = false;
      lane.waiting.unshift(...messages);
      makeReady(sessionKey, lane);
      forgetIfIdle(sessionKey, lane);
    },
    withdraw(sessionKey, id) {
      const lane = lanes.get(sessionKey);
      const index = lane?.waiting.findIndex((message) => message.id === id) ?? -1;
      if (!lane || index < 0) return false;
      lane.waiting.splice(index, 1);
      forgetIfIdle(sessionKey, lane);
      return true;
    },
    replace(message) {
      const lane = lanes.get(message.sessionKey);
      const index = lane?.waiting.findIndex((one) => one.id === message.id) ?? -1;
      if (!lane || index < 0) return false;
      lane.waiting.splice(index, 1, message);
      return true;
    },
    stop(sessionKey, reason) {
      const lane = lanes.get(sessionKey);
      lane?.running?.controller.abort(reason);
      return lane?.running !== undefined;
    },
    busy: (sessionKey) => lanes.has(sessionKey),
    waiting: (sessionKey) => lanes.get(sessionKey)?.waiting ?? [],
    counts() {
      let waiting = 0;
      for (const lane of lanes.values()) waiting += lane.waiting.length;
      return { running, waiting };
    },
    close() {
      closed = true;
      for (const lane of lanes.values()) clearTimeout(lane.timer);
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
