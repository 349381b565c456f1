import type { AgentLoopConfig } from "../config.ts";
import { errorText } from "../errors.ts";
import type { EmitEvent } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type {
  ModelContext,
  ModelErrorData,
  ModelEvent,
  ModelIterator,
  StopReason,
  StreamOptions,
} from "../model.ts";
import type { Snapshot } from "../snapshot.ts";
import type { RunSignal } from "./run-signal.ts";
import { isSoundEvent, soundTurn } from "./sound-turn.ts";
import type { Tally } from "./tally.ts";

/** How long a stream that has given its last event may take to close. */
const CLOSE_MS = 250;
/** Events taken in a row before those who wait for a promise come to their turn. */
const IN_A_ROW = 64;

type LastEvent = Extract<ModelEvent, { readonly type: "finish" | "error" }>;

/** What asking a model for one turn needs of the run. */
export interface TurnHost {
  readonly config: AgentLoopConfig;
  readonly stop: RunSignal;
  readonly emit: EmitEvent;
  /** Follows the turn, also in case the stream never says itself what it came to. */
  readonly snapshot: Snapshot;
  readonly graceMs: number;
  readonly now: () => number;
  /** Counts what an attempt used that another one followed. */
  readonly tally: Tally;
}

/**
 * Asks a model for one turn and passes its events on as they come. Resolves with the turn whatever the stream does:
 * one that throws, ends early or does not end after an abort gives a turn of what had arrived. Rejects only when
 * `emit` does.
 */
export function streamTurn(
  host: TurnHost,
  context: ModelContext,
  options: StreamOptions,
): Promise<AssistantMessage> {
  const turn = new StreamedTurn(host);
  void turn.read(context, options);
  return turn.message;
}

/** One turn while it streams. */
export class StreamedTurn {
  readonly message: Promise<AssistantMessage>;
  private readonly host: TurnHost;
  private readonly resolve: (message: AssistantMessage) => void;
  private readonly reject: (error: unknown) => void;
  private iterator: ModelIterator | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Nothing more is taken: the last event has come, or the stream was given up. */
  private over = false;
  private last: LastEvent | undefined;
  private started = false;
  /** Why a turn without a last event broke off. */
  private broke = "The stream ended before the turn did.";

  constructor(host: TurnHost) {
    const { promise, resolve, reject } = Promise.withResolvers<AssistantMessage>();
    this.message = promise;
    this.host = host;
    this.resolve = resolve;
    this.reject = reject;
  }

  // What every delta goes through is compiled in every process that runs more than a few turns, and again for each
  // place it is called from: so the loop is short, in one place, and leaves what is rare to other functions.
  async read(context: ModelContext, options: StreamOptions): Promise<void> {
    const { config, snapshot, emit, stop } = this.host;
    snapshot.clear();
    stop.on(this.onStop);
    try {
      let iterator: ModelIterator;
      try {
        iterator = config.stream(config.model, context, options)[Symbol.asyncIterator]();
      } catch (error) {
        this.broke = errorText(error);
        this.resolve(this.failed());
        return;
      }
      this.iterator = iterator;
      let inRow = 0;
      while (!this.over) {
        // A stream written without types may give anything.
        let event: ModelEvent | undefined;
        try {
          event = inRow++ < IN_A_ROW ? iterator.nextReady?.() : undefined;
          if (event === undefined) {
            inRow = 1;
            const next: IteratorResult<ModelEvent> | undefined = await iterator.next();
            if (next === undefined || next.done === true || this.over) break;
            event = next.value;
          }
        } catch (error) {
          this.broke = errorText(error);
          break;
        }
        let wait: void | Promise<void>;
        if (event?.type === "text.delta" && event.index >= 0 && typeof event.delta === "string") {
          snapshot.apply(event);
          wait = emit(event);
        } else {
          wait = this.take(event);
        }
        if (wait !== undefined) await wait;
      }
      const last = this.last;
      if (last === undefined) {
        void close(iterator);
        this.resolve(this.failed());
        return;
      }
      // What follows the last event is read too, which lets a connection go back to its pool.
      let open = true;
      let rest: Promise<void> | undefined;
      try {
        rest = Promise.resolve(iterator.next()).then(
          (next) => {
            open = false;
            if (next?.done !== true) return close(iterator);
          },
          () => {
            open = false;
          },
        );
      } catch {
        // The turn is whole either way.
      }
      // A generator that only returns is through within a few microtasks; a timer for it would cost more than the turn.
      for (let i = 0; i < 4 && open; i++) await undefined;
      if (open && rest !== undefined) await closedInTime(iterator, rest);
      const turn = soundTurn(last.type === "finish" ? last.message : withError(last.partial, last.error));
      if (turn === undefined) this.broke = "The stream ended with something that is no turn.";
      this.resolve(turn ?? this.failed());
    } catch (error) {
      this.reject(error);
    } finally {
      if (this.timer !== undefined) clearTimeout(this.timer);
      stop.off(this.onStop);
    }
  }

  private onStop = (): void => {
    this.timer = setTimeout(() => this.abandon(), this.host.graceMs);
  };

  /** Gives up on a stream that does not end. */
  private abandon(): void {
    this.over = true;
    void close(this.iterator);
    this.resolve(this.broken("aborted", failure("aborted", "The run was stopped.", this.emitted())));
  }

  private take(event: ModelEvent | undefined): void | Promise<void> {
    const { emit, snapshot } = this.host;
    if (typeof event !== "object" || event === null || event instanceof Promise) {
      // An async `nextReady`, written without types.
      if (event instanceof Promise) event.catch(() => {});
      this.over = true;
      this.broke = "The stream gave something that is no event.";
      return;
    }
    if (event.type === "finish" || event.type === "error") {
      this.over = true;
      if (event.type === "finish" || event.error) this.last = event;
      else this.broke = "The stream ended in an error that does not say what it is.";
      return;
    }
    // Nothing that is shown is made of what is not as it should be; the turn the stream ends in says what counts.
    if (!isSoundEvent(event)) return;
    if (event.type === "attempt") return this.again(event);
    if (event.type !== "start") {
      snapshot.apply(event);
      return emit(event);
    }
    // An adapter that tries again may say so again; viewers are told once.
    if (this.started) return;
    this.started = true;
    return emit({ type: "model.start", request: event.request, warnings: event.warnings });
  }

  private again(event: Extract<ModelEvent, { type: "attempt" }>): void | Promise<void> {
    const { emit, snapshot } = this.host;
    if (event.failure.usage !== undefined) this.host.tally.addUsage(event.failure.usage);
    if (event.discard !== true) return emit(event);
    snapshot.clear();
    this.started = false;
    const discard = { type: "model.discard", reason: "retry", failure: event.failure } as const;
    const told = emit(event);
    return told === undefined ? emit(discard) : told.then(() => emit(discard));
  }

  private failed(): AssistantMessage {
    return this.host.stop.cause === undefined
      ? this.broken("error", failure("protocol", this.broke, this.emitted()))
      : this.broken("aborted", failure("aborted", "The run was stopped.", this.emitted()));
  }

  /** Whether viewers were shown any of the answer. */
  private emitted(): boolean {
    return this.host.snapshot.blocks.some(
      (block) => (block.type === "text" || block.type === "thinking") && block.text !== "",
    );
  }

  private broken(stopReason: StopReason, error: ModelErrorData): AssistantMessage {
    const { config, now, snapshot } = this.host;
    const { model } = config;
    return {
      role: "assistant",
      content: snapshot.salvage(),
      api: model.api,
      provider: model.provider,
      model: model.id,
      stopReason,
      error,
      timestamp: now(),
    };
  }
}

function failure(code: "aborted" | "protocol", message: string, emitted: boolean): ModelErrorData {
  return { code, message, retryable: false, emitted, scope: "provider" };
}

/** A turn that ended in an error says so itself, whatever the adapter wrote into it. */
function withError(partial: AssistantMessage, error: ModelErrorData): AssistantMessage {
  const stopReason =
    error.code === "aborted" ? "aborted" : error.code === "overflow" ? "context_overflow" : "error";
  return { ...partial, stopReason, error };
}

/** Waits a moment for the rest of a stream, then closes it. */
async function closedInTime(iterator: AsyncIterator<ModelEvent>, rest: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      void close(iterator);
      resolve();
    }, CLOSE_MS);
  });
  await Promise.race([rest, late]);
  clearTimeout(timer);
}

async function close(iterator: AsyncIterator<ModelEvent> | undefined): Promise<void> {
  try {
    await iterator?.return?.();
  } catch {
    // The turn is over either way.
  }
}
