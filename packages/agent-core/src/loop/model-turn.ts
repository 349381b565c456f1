import { errorText } from "../errors.ts";
import type { EmitEvent } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type {
  Model,
  ModelContext,
  ModelErrorData,
  ModelEvent,
  RequestInfo,
  StopReason,
  StreamModel,
  StreamOptions,
  Usage,
  Warning,
} from "../model.ts";
import type { Snapshot } from "../snapshot.ts";
import type { RunSignal } from "./run-signal.ts";

/** How long a stream that has given its last event may take to close. */
const CLOSE_MS = 250;

/** What asking a model for one turn takes. */
export interface TurnRequest {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly stop: RunSignal;
  readonly emit: EmitEvent;
  /** Follows the turn, also in case the stream never says itself what it came to. */
  readonly snapshot: Snapshot;
  readonly graceMs: number;
  readonly now: () => number;
  /** Called with what an attempt used that another one followed. */
  readonly onSpent: (usage: Usage) => void;
}

/**
 * Asks a model for one turn and passes its events on as they come. Resolves with the turn whatever the stream does:
 * one that throws, ends early or does not end after an abort gives a turn of what had arrived. Rejects only when
 * `emit` does.
 */
export function streamTurn(request: TurnRequest): Promise<AssistantMessage> {
  request.snapshot.clear();
  return new Promise((resolve, reject) => {
    new StreamedTurn(request, resolve, reject).start();
  });
}

class StreamedTurn {
  readonly #request: TurnRequest;
  readonly #resolve: (message: AssistantMessage) => void;
  readonly #reject: (error: unknown) => void;
  #iterator: AsyncIterator<ModelEvent> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #abandoned = false;
  /** The last event has come; what is left is to close the stream. */
  #done = false;
  #started = false;
  #emitted = false;

  constructor(
    request: TurnRequest,
    resolve: (message: AssistantMessage) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const { stream, model, context, options, stop } = this.#request;
    stop.on(this.#onStop);
    try {
      this.#iterator = stream(model, context, options)[Symbol.asyncIterator]();
    } catch (error) {
      this.#settle(this.#broken("error", failure("protocol", errorText(error), false)));
      return;
    }
    this.#pull();
  }

  #settle = (message: AssistantMessage): void => {
    this.#forget();
    this.#resolve(message);
  };

  #onStop = (): void => {
    this.#timer = setTimeout(() => this.#abandon(), this.#request.graceMs);
  };

  /** Gives up on a stream that does not end. */
  #abandon(): void {
    this.#abandoned = true;
    void close(this.#iterator);
    this.#settle(this.#broken("aborted", failure("aborted", "The run was stopped.", this.#emitted)));
  }

  #forget(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#request.stop.off(this.#onStop);
  }

  // Handlers made once a turn: an `await` would make its own for every delta.
  readonly #pull = (): void => {
    if (this.#abandoned) return;
    let next: Promise<IteratorResult<ModelEvent>> | undefined;
    try {
      next = this.#iterator?.next();
    } catch (error) {
      this.#onThrow(error);
      return;
    }
    // A stream written without types may give anything.
    const promise = next instanceof Promise ? next : Promise.resolve(next);
    promise.then(this.#onNext, this.#onThrow);
  };

  readonly #onThrow = (error: unknown): void => this.#settle(this.#failed(errorText(error)));

  readonly #fail = (error: unknown): void => {
    this.#forget();
    this.#reject(error);
  };

  readonly #onNext = (next: IteratorResult<ModelEvent> | undefined): void => {
    if (this.#abandoned) return;
    if (next === undefined || next.done === true) {
      this.#endedEarly();
      return;
    }
    let wait: void | Promise<void>;
    try {
      wait = this.#take(next.value);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#done) return;
    if (wait === undefined) this.#pull();
    else this.#pullAfter(wait);
  };

  #endedEarly(): void {
    this.#settle(this.#failed("The stream ended before the turn did."));
  }

  #pullAfter(wait: Promise<void>): void {
    Promise.resolve(wait).then(this.#pull, this.#fail);
  }

  // Kept small, as nearly all events are deltas: what is compiled for them is compiled in every process that runs a turn.
  #take(event: ModelEvent): void | Promise<void> {
    if (event.type !== "text.delta" && event.type !== "thinking.delta") return this.#takeOther(event);
    const { emit, snapshot } = this.#request;
    this.#emitted = true;
    snapshot.delta(event);
    return emit(event);
  }

  #takeOther(event: ModelEvent): void | Promise<void> {
    switch (event.type) {
      case "start":
        return this.#start(event.request, event.warnings);
      case "attempt":
        return this.#again(event);
      case "finish":
        this.#finish(event.message);
        return;
      case "error":
        this.#finish(withError(event.partial, event.error));
        return;
      default:
        this.#request.snapshot.apply(event);
        return this.#request.emit(event);
    }
  }

  #start(request: RequestInfo, warnings: readonly Warning[]): void | Promise<void> {
    // An adapter that tries again may say so again; viewers are told once.
    if (this.#started) return;
    this.#started = true;
    return this.#request.emit({ type: "model.start", request, warnings });
  }

  #again(event: Extract<ModelEvent, { type: "attempt" }>): void | Promise<void> {
    const { emit, snapshot, onSpent } = this.#request;
    if (event.failure.usage !== undefined) onSpent(event.failure.usage);
    if (event.discard !== true) return emit(event);
    snapshot.clear();
    this.#started = false;
    this.#emitted = false;
    const discard = { type: "model.discard", reason: "retry", failure: event.failure } as const;
    const told = emit(event);
    return told === undefined ? emit(discard) : told.then(() => emit(discard));
  }

  #finish(message: AssistantMessage): void {
    this.#done = true;
    const iterator = this.#iterator;
    if (iterator !== undefined) closed(iterator).then(() => this.#settle(message), this.#fail);
  }

  #failed(message: string): AssistantMessage {
    return this.#request.stop.cause === undefined
      ? this.#broken("error", failure("protocol", message, this.#emitted))
      : this.#broken("aborted", failure("aborted", "The run was stopped.", this.#emitted));
  }

  #broken(stopReason: StopReason, error: ModelErrorData): AssistantMessage {
    const { model, now, snapshot } = this.#request;
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

/**
 * Reads a stream to its end, which lets a connection go back to its pool. One that does not end at once is given a
 * moment, then closed.
 */
async function closed(iterator: AsyncIterator<ModelEvent>): Promise<void> {
  let done = false;
  const rest = iterator.next().then(
    (next) => {
      done = true;
      if (next.done !== true) return close(iterator);
    },
    () => {
      done = true;
    },
  );
  // A generator that only returns is through within a few microtasks; a timer for it would cost more than the turn.
  for (let i = 0; i < 4 && !done; i++) await undefined;
  if (done) return;
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
