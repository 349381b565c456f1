import type { Block } from "../content.ts";
import { errorText } from "../errors.ts";
import type { EmitEvent } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type {
  Model,
  ModelContext,
  ModelErrorData,
  ModelEvent,
  StopReason,
  StreamModel,
  StreamOptions,
} from "../model.ts";
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
  readonly graceMs: number;
  readonly now: () => number;
}

/**
 * Asks a model for one turn and passes its events on as they come. Resolves with the turn whatever the stream does:
 * one that throws, ends early or does not end after an abort gives a turn of what had arrived. Rejects only when
 * `emit` does.
 */
export function streamTurn(request: TurnRequest): Promise<AssistantMessage> {
  const turn = new StreamedTurn(request);
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const onStop = (): void => {
      timer = setTimeout(() => resolve(turn.abandon()), request.graceMs);
    };
    const settled = (): void => {
      clearTimeout(timer);
      request.stop.off(onStop);
    };
    turn.pump().then(
      (message) => {
        settled();
        resolve(message);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
    request.stop.on(onStop);
  });
}

class StreamedTurn {
  readonly #request: TurnRequest;
  #iterator: AsyncIterator<ModelEvent> | undefined;
  #abandoned = false;
  #started = false;
  #emitted = false;
  /** What has arrived, in case the stream never says so itself. */
  readonly #sealed: Block[] = [];
  #openIndex = -1;
  #openText = "";
  #openThinking = false;

  constructor(request: TurnRequest) {
    this.#request = request;
  }

  /** Gives up on a stream that does not end. */
  abandon(): AssistantMessage {
    this.#abandoned = true;
    void close(this.#iterator);
    return this.#broken("aborted", failure("aborted", "The run was stopped.", this.#emitted));
  }

  async pump(): Promise<AssistantMessage> {
    const { stream, model, context, options, emit } = this.#request;
    try {
      this.#iterator = stream(model, context, options)[Symbol.asyncIterator]();
    } catch (error) {
      return this.#broken("error", failure("protocol", errorText(error), false));
    }
    const iterator = this.#iterator;
    for (;;) {
      let next: IteratorResult<ModelEvent>;
      try {
        next = await iterator.next();
      } catch (error) {
        return this.#failed(errorText(error));
      }
      if (this.#abandoned) return this.#broken("aborted", failure("aborted", "", this.#emitted));
      if (next.done === true) return this.#failed("The stream ended before the turn did.");
      const event = next.value;
      let wait: void | Promise<void>;
      switch (event.type) {
        case "text.delta":
        case "thinking.delta":
          this.#emitted = true;
          if (event.index !== this.#openIndex) this.#open(event.index, event.type === "thinking.delta");
          this.#openText += event.delta;
          wait = emit(event);
          break;
        case "block.end":
          this.#openIndex = -1;
          this.#openText = "";
          this.#sealed.push(event.block);
          wait = emit(event);
          break;
        case "start":
          // An adapter that tries again may say so again; viewers are told once.
          if (this.#started) continue;
          this.#started = true;
          wait = emit({ type: "model.start", request: event.request, warnings: event.warnings });
          break;
        case "finish":
          await closed(iterator);
          return event.message;
        case "error":
          await closed(iterator);
          return withError(event.partial, event.error);
        default:
          wait = emit(event);
      }
      if (wait !== undefined) await wait;
    }
  }

  #open(index: number, thinking: boolean): void {
    this.#openIndex = index;
    this.#openThinking = thinking;
    this.#openText = "";
  }

  #failed(message: string): AssistantMessage {
    return this.#request.stop.cause === undefined
      ? this.#broken("error", failure("protocol", message, this.#emitted))
      : this.#broken("aborted", failure("aborted", "The run was stopped.", this.#emitted));
  }

  #broken(stopReason: StopReason, error: ModelErrorData): AssistantMessage {
    const { model, now } = this.#request;
    const content = [...this.#sealed];
    // Open thinking has no signature, so no vendor would take it back.
    if (this.#openText !== "" && !this.#openThinking) content.push({ type: "text", text: this.#openText });
    return {
      role: "assistant",
      content,
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
