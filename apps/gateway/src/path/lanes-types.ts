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
  /** It stands for a run that has begun and answers these. */
  readonly covers?: readonly InboxId[];
}

/** The messages of one run, or those that join it. */
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
  takeSteering(): Batch<M>;
  /** Messages of this run that were taken back since it began. */
  readonly recalled: Pick<ReadonlySet<InboxId>, "has">;
  /**
   * Says whether the run does nothing but wait for a person: others may go on in its place meanwhile. It never waits to
   * have a place again.
   */
  waits(on: boolean): void;
}

/** Why messages are left out. */
export type LeftOut<M extends Waiting> =
  | {
      readonly kind: "full";
      readonly drop: "old" | "new";
      readonly cap: number;
      /** Those of them, one for each place, that are the first to be left out since their session was idle. */
      readonly first: readonly M[];
    }
  | { readonly kind: "stopped" };

export interface LaneOptions<M extends Waiting> {
  /**
   * Runs at the same time, over all sessions. Those that only wait for a person do not count, as long as they are not
   * more than four times as many; whoever has twice as many of those starts no others meanwhile.
   */
  readonly maxRuns: number;
  readonly queue: (sessionKey: string) => QueueSettings;
  /** Whose turn a message takes where there are more sessions than may run. */
  readonly ownerOf: (message: M) => string;
  /** Whether two messages of a session may share a run: its one reply must reach the senders of both. */
  readonly together: (a: M, b: M) => boolean;
  /** Answers a batch. Must not reject. */
  readonly run: (batch: Batch<M>, handle: RunHandle<M>) => Promise<void>;
  /** Ends messages that are left out. */
  readonly leaveOut: (messages: readonly M[], why: LeftOut<M>) => void;
}

/** What a stop has met. */
interface Stopped {
  /** A turn was running. */
  readonly running: boolean;
  /** How many messages that waited were left out. */
  readonly dropped: number;
}

/** One run a session, many sessions at once, fair between their senders and between them. */
export interface Lanes<M extends Waiting> {
  enqueue(message: M): void;
  /** Starts no run of this session until something is put back: what comes meanwhile must not overtake it. */
  hold(sessionKey: string): void;
  /** Puts messages back in front of what waits: their run could not be, or could not go on. Ends a hold. */
  putBack(sessionKey: string, messages: readonly M[]): void;
  /** Takes a message back that waits; false where a run has it. */
  withdraw(sessionKey: string, id: InboxId): boolean;
  /**
   * Takes a message back from the run that has it; false where none does. A run that is left with none is aborted
   * with `reason`.
   */
  recall(sessionKey: string, id: InboxId, reason: Error): boolean;
  /** Replaces a waiting message by its later version. */
  replace(message: M): boolean;
  /**
   * Stops the running turn, and leaves out what waits; `reason` becomes the turn's signal's.
   *
   * @param before what came after this message stays
   */
  stop(sessionKey: string, reason: Error, before?: InboxId): Stopped;
  busy(sessionKey: string): boolean;
  waiting(sessionKey: string): readonly M[];
  /** What its run answers, as far as it was not taken back, and what waits. */
  all(sessionKey: string): readonly M[];
  counts(): { readonly running: number; readonly waiting: number };
  /** Starts no more runs; resolves when the running ones have ended. */
  close(): Promise<void>;
  /** Stops every running turn. */
  stopAll(reason: Error): void;
}
