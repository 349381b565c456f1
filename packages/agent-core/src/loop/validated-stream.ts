import { reasonOf } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import type { ModelEvent } from "../model.ts";
import { race } from "./race.ts";
import { isValidBlock } from "./validate-turn.ts";

/** Time limit in milliseconds for a stream to close after its last event. */
const CLOSE_MS = 250;

/** A stream that did not end properly. `cause` is the thrown value. */
export interface BrokenStream {
  readonly type: "broken";
  readonly why: string;
  readonly cause?: unknown;
}

/**
 * Reads a stream that may be invalid. Skips invalid events and ends with `broken` if the stream throws, yields an
 * invalid value or stops early. `validateTurn` checks the turn in the last event.
 */
export class ValidatedStream {
  readonly #open: () => AsyncIterable<ModelEvent>;
  #iterator: AsyncIterator<ModelEvent> | undefined;
  #closed = false;

  constructor(open: () => AsyncIterable<ModelEvent>) {
    this.#open = open;
  }

  /**
   * Returns the next valid event. Returns the last one only after the stream has closed or its time limit has passed.
   * Never rejects.
   */
  async next(): Promise<ModelEvent | BrokenStream> {
    try {
      this.#iterator ??= this.#open()[Symbol.asyncIterator]();
      for (;;) {
        const next = this.#closed ? undefined : await this.#iterator.next();
        // A closed stream returns no further events.
        const event = validateEvent(this.#closed ? undefined : next);
        if (event === undefined) continue;
        if (event.type === "finish" || event.type === "error") await this.#readRest(this.#iterator);
        return event;
      }
    } catch (error) {
      return { type: "broken", why: reasonOf(error), cause: error };
    }
  }

  /** Stops reading. Not awaited, because a hanging iterator would block the caller. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const close = async (): Promise<unknown> => this.#iterator?.return?.();
    close().catch(() => {});
  }

  /** Reads the rest of the stream after the last event, so that the connection can return to its pool. */
  async #readRest(iterator: AsyncIterator<ModelEvent>): Promise<void> {
    try {
      const rest = await race(Promise.resolve(iterator.next()), { timeoutMs: CLOSE_MS });
      if (!rest.done || rest.value.done !== true) this.close();
    } catch {
      // The turn is complete even if closing fails.
    }
    this.#closed = true;
  }
}

/** Returns `undefined` for an invalid event. The caller skips it. */
function validateEvent(next: IteratorResult<ModelEvent> | undefined): ModelEvent | BrokenStream | undefined {
  const broken = (why: string): BrokenStream => ({ type: "broken", why });
  if (next === undefined || next.done === true) return broken("The stream ended before the turn did.");
  const event: ModelEvent | undefined = next.value;
  if (typeof event !== "object" || event === null) {
    return broken("The stream returned a value that is not an event.");
  }
  if (event.type === "error" && !isJsonObject(event.error)) {
    return broken("The stream ended with an error event without details.");
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
