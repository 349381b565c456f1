import { reasonOf } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import type { ModelEvent } from "../model.ts";
import { race } from "./race.ts";
import { isValidBlock } from "./validate-turn.ts";

/** How long a stream that has given its last event may take to close. */
const CLOSE_MS = 250;

/** A stream that did not come to an end of its own, and why; `cause` is what it threw. */
export interface BrokenStream {
  readonly type: "broken";
  readonly why: string;
  readonly cause?: unknown;
}

/**
 * Reads a stream of unknown quality as a sound one. An adapter written without types may yield anything: what is no
 * event of a turn is left out, and a stream that throws, yields nonsense or stops early gets an end that says so.
 * `validateTurn` decides whether the last event holds a turn.
 */
export class ValidatedStream {
  readonly #open: () => AsyncIterable<ModelEvent>;
  #iterator: AsyncIterator<ModelEvent> | undefined;
  #closed = false;

  constructor(open: () => AsyncIterable<ModelEvent>) {
    this.#open = open;
  }

  /** The next event that is one; the last comes once the stream has closed, or had the time for it. Never rejects. */
  async next(): Promise<ModelEvent | BrokenStream> {
    try {
      this.#iterator ??= this.#open()[Symbol.asyncIterator]();
      for (;;) {
        const next = this.#closed ? undefined : await this.#iterator.next();
        // Whoever closed it meanwhile is told nothing more.
        const event = eventOf(this.#closed ? undefined : next);
        if (event === undefined) continue;
        if (event.type === "finish" || event.type === "error") await this.#readRest(this.#iterator);
        return event;
      }
    } catch (error) {
      return { type: "broken", why: reasonOf(error), cause: error };
    }
  }

  /** Reads no more. Not waited for: an iterator that hangs would not let go of whoever leaves. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const close = async (): Promise<unknown> => this.#iterator?.return?.();
    close().catch(() => {});
  }

  /** What follows the last event is read too, which lets a connection go back to its pool. */
  async #readRest(iterator: AsyncIterator<ModelEvent>): Promise<void> {
    try {
      const rest = await race(Promise.resolve(iterator.next()), { timeoutMs: CLOSE_MS });
      if (!rest.done || rest.value.done !== true) this.close();
    } catch {
      // The turn is whole either way.
    }
    this.#closed = true;
  }
}

/** What a stream gave; `undefined` where that is no event of a turn, and can be left out. */
function eventOf(next: IteratorResult<ModelEvent> | undefined): ModelEvent | BrokenStream | undefined {
  const broken = (why: string): BrokenStream => ({ type: "broken", why });
  if (next === undefined || next.done === true) return broken("The stream ended before the turn did.");
  const event: ModelEvent | undefined = next.value;
  if (typeof event !== "object" || event === null) {
    return broken("The stream gave something that is no event.");
  }
  if (event.type === "error" && !isJsonObject(event.error)) {
    return broken("The stream ended in an error that does not say what it is.");
  }
  return isValidEvent(event) ? event : undefined;
}

function isValidEvent(event: ModelEvent): boolean {
  switch (event.type) {
    case "text.delta":
    case "thinking.delta":
    case "tool.delta":
      return event.index >= 0 && typeof event.delta === "string";
    case "block.start": {
      const { block, index } = event;
      if (typeof block?.type !== "string" || !(index >= 0)) return false;
      return block.type !== "toolCall" || (typeof block.id === "string" && typeof block.name === "string");
    }
    case "block.end":
      return event.index >= 0 && isValidBlock(event.block);
    case "usage":
      return isJsonObject(event.usage);
    case "attempt":
      return isJsonObject(event.failure) && isJsonObject(event.next);
    case "start":
      return isJsonObject(event.request) && Array.isArray(event.warnings);
    case "finish":
    case "error":
      return true;
    default:
      return false;
  }
}
