import type {
  AssistantMessage,
  Block,
  Model,
  ModelEvent,
  ModelIterator,
  ModelStream,
} from "@signalbox/agent-core";
import { classifyException, type Failure, failure } from "../stream/errors.ts";
import { type OpenBlock, seal } from "../stream/seal.ts";
import { drain } from "../stream/source.ts";
import { isTurn } from "../stream/turn.ts";

type Result = IteratorResult<ModelEvent, undefined>;

/** What an attempt that never began, or did not say how it ended, leaves behind. */
export function brokenMessage(
  model: Model | undefined,
  error: AssistantMessage["error"],
  timestamp: number,
  content: readonly Block[] = [],
): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: model?.api ?? "",
    provider: model?.provider ?? "",
    model: model?.id ?? "",
    stopReason: error?.code === "aborted" ? "aborted" : "error",
    ...(error === undefined ? {} : { error }),
    timestamp,
  };
}

/** A stream that is not known to keep the contract: where it throws, or ends without a word, it fails as others do. */
class Guard implements ModelIterator {
  readonly #inner: ModelIterator;
  readonly #model: Model;
  readonly #signal: AbortSignal | undefined;
  readonly #now: () => number;
  readonly #open = new Map<number, OpenBlock>();
  readonly #sealed = new Map<number, Block>();
  readonly #queue: ModelEvent[] = [];
  #started = false;
  #emitted = false;
  #ended = false;

  constructor(inner: ModelIterator, model: Model, signal: AbortSignal | undefined, now: () => number) {
    this.#inner = inner;
    this.#model = model;
    this.#signal = signal;
    this.#now = now;
  }

  nextReady(): ModelEvent | undefined {
    if (this.#ended) return undefined;
    try {
      const event = this.#inner.nextReady?.();
      return event === undefined ? undefined : this.#seen(event);
    } catch (error) {
      this.#threw(error);
      this.#close();
      return undefined;
    }
  }

  async next(): Promise<Result> {
    if (!this.#ended) {
      try {
        const result: IteratorResult<ModelEvent> | undefined = await this.#inner.next();
        if (result?.done === true) {
          this.#break(failure("protocol", "The provider's stream ended without a word."));
        } else if (!this.#ended) {
          const value = this.#seen(result?.value);
          if (value !== undefined) return { done: false, value };
        }
      } catch (error) {
        this.#threw(error);
      }
    }
    const value = this.#queue.shift();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }

  async return(): Promise<Result> {
    this.#ended = true;
    this.#queue.length = 0;
    this.#close();
    return { done: true, value: undefined };
  }

  /** Not waited for: a generator that hangs would not let go of whoever leaves. */
  #close(): void {
    const closed = async (): Promise<unknown> => this.#inner.return?.();
    closed().catch(() => {});
  }

  /** The event, once it is known for one; after one that is none the turn is over. */
  #seen(event: ModelEvent | undefined): ModelEvent | undefined {
    if (event !== undefined && isEvent(event)) {
      this.#note(event);
      return event;
    }
    this.#break(NO_EVENT);
    this.#readOn();
    return undefined;
  }

  #note(event: ModelEvent): void {
    switch (event.type) {
      case "start":
        this.#started = true;
        break;
      case "block.start":
        this.#open.set(event.index, { head: event.block, text: "" });
        break;
      case "text.delta":
      case "thinking.delta":
      case "tool.delta": {
        const open = this.#open.get(event.index);
        if (open !== undefined) open.text += event.delta;
        if (event.type !== "tool.delta") this.#emitted = true;
        break;
      }
      case "block.end":
        this.#open.delete(event.index);
        this.#sealed.set(event.index, event.block);
        break;
      case "finish":
      case "error":
        this.#ended = true;
        this.#readOn();
        break;
      default:
    }
  }

  /** Lets a stream do what it does after its last event: a generator gives its connection back then. */
  #readOn(): void {
    const next = async (): Promise<boolean> => {
      if ((await this.#inner.next())?.done !== true) this.#close();
      return false;
    };
    drain(next, () => this.#close());
  }

  #threw(error: unknown): void {
    this.#break(this.#signal?.aborted === true ? aborted() : classifyException(error));
  }

  #break(cause: Failure): void {
    if (this.#ended) return;
    this.#ended = true;
    const { api, provider, id } = this.#model;
    if (!this.#started)
      this.#queue.push({ type: "start", request: { api, provider, model: id }, warnings: [] });
    for (const [index, open] of this.#open) {
      const block = seal(open, undefined, false);
      this.#sealed.set(index, block);
      this.#queue.push({ type: "block.end", index, block });
    }
    const error = { ...cause, emitted: this.#emitted };
    const content = [...this.#sealed].sort(([a], [b]) => a - b).map(([, block]) => block);
    this.#queue.push({
      type: "error",
      error,
      partial: brokenMessage(this.#model, error, this.#now(), content),
    });
  }
}

const NO_EVENT: Failure = failure("protocol", "The provider's stream gave something that is no event.");

/** As far as the runner relies on it: a third party's stream may be written without types. */
function isEvent(event: ModelEvent): boolean {
  if (typeof event !== "object" || event === null || typeof event.type !== "string") return false;
  if (event.type === "finish") return typeof event.message === "object" && event.message !== null;
  if (event.type !== "error") return true;
  const { error, partial } = event;
  return typeof error === "object" && error !== null && typeof partial === "object" && partial !== null;
}

function aborted(): Failure {
  return failure("aborted", "The request was aborted.");
}

/** The events of one attempt, which never throw and always end with a terminal one; those of our own turns as they are. */
export function guarded(
  stream: () => ModelStream,
  model: Model,
  signal: AbortSignal | undefined,
  now: () => number,
): ModelIterator {
  let opened: ModelIterator;
  try {
    const made = stream();
    if (isTurn(made)) return made;
    opened = made[Symbol.asyncIterator]();
  } catch (error) {
    opened = { next: () => Promise.reject(error) };
  }
  return new Guard(opened, model, signal, now);
}
