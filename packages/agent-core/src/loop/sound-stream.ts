import { reasonOf } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import type { ModelEvent } from "../model.ts";
import { race } from "./race.ts";
import { isSoundBlock } from "./sound-turn.ts";

/** How long a stream that has given its last event may take to close. */
const CLOSE_MS = 250;

/** An event that ends a stream. */
export type LastEvent = Extract<ModelEvent, { readonly type: "finish" | "error" }>;
/** An event that does not end the stream. */
export type OngoingEvent = Exclude<ModelEvent, LastEvent>;
/** A stream that did not come to an end of its own, and why; `cause` is what it threw. */
export interface BrokenStream {
  readonly type: "broken";
  readonly why: string;
  readonly cause?: unknown;
}

/**
 * Reads a stream of unknown quality as a sound one. An adapter written without types may yield anything: what is no
 * event of a turn is left out, and a stream that throws, yields nonsense or stops early gets an end that says so.
 * `soundTurn` decides whether the last event holds a turn.
 */
export class SoundStream {
  readonly #open: () => AsyncIterable<ModelEvent>;
  #iterator: AsyncIterator<ModelEvent> | undefined;
  #closed = false;
  /** What follows the last event is read too, which lets a connection go back to its pool. */
  #rest: Promise<void> | undefined;

  constructor(open: () => AsyncIterable<ModelEvent>) {
    this.#open = open;
  }

  /** Passes on each event and waits for its consumer. Rejects only when `onEvent` does. */
  async read(onEvent: (event: OngoingEvent) => void | Promise<void>): Promise<LastEvent | BrokenStream> {
    try {
      for (;;) {
        let event: ModelEvent | BrokenStream | undefined;
        // Nearly all events are deltas, so this does not go by `next`, which would be one more promise for each.
        try {
          event = this.#eventOf(await this.#pull());
        } catch (error) {
          event = brokenBy(error);
        }
        if (event === undefined) continue;
        if (event.type === "finish" || event.type === "error" || event.type === "broken") {
          await this.#rest;
          return event;
        }
        const taken = onEvent(event);
        if (taken !== undefined) await taken;
      }
    } finally {
      this.close();
    }
  }

  /** The next event that is one. Never rejects. */
  async next(): Promise<ModelEvent | BrokenStream> {
    try {
      for (;;) {
        const event = this.#eventOf(await this.#pull());
        if (event !== undefined) return event;
      }
    } catch (error) {
      return brokenBy(error);
    }
  }

  #pull(): Promise<IteratorResult<ModelEvent> | undefined> {
    this.#iterator ??= this.#open()[Symbol.asyncIterator]();
    return this.#iterator.next();
  }

  /** What the stream gave; `undefined` where that is no event of a turn, and can be left out. */
  #eventOf(next: IteratorResult<ModelEvent> | undefined): ModelEvent | BrokenStream | undefined {
    if (next === undefined || next.done === true || this.#closed) {
      return { type: "broken", why: "The stream ended before the turn did." };
    }
    const event: ModelEvent | undefined = next.value;
    if (typeof event !== "object" || event === null) {
      return { type: "broken", why: "The stream gave something that is no event." };
    }
    if (event.type === "error" && !event.error) {
      return { type: "broken", why: "The stream ended in an error that does not say what it is." };
    }
    if (event.type !== "finish" && event.type !== "error") return isSoundEvent(event) ? event : undefined;
    this.#rest = readRest(this.#iterator);
    return event;
  }

  /** Reads no more. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#rest === undefined) closeQuietly(this.#iterator);
  }
}

function brokenBy(error: unknown): BrokenStream {
  return { type: "broken", why: reasonOf(error), cause: error };
}

/** Closes a stream that has given its last event and does not end by itself. */
async function readRest(iterator: AsyncIterator<ModelEvent> | undefined): Promise<void> {
  try {
    const rest = await race(Promise.resolve(iterator?.next()), { timeoutMs: CLOSE_MS });
    if (!rest.done || rest.value?.done !== true) closeQuietly(iterator);
  } catch {
    // The turn is whole either way.
  }
}

/** Not waited for: an iterator that hangs would not let go of whoever leaves. */
function closeQuietly(iterator: AsyncIterator<ModelEvent> | undefined): void {
  const close = async (): Promise<unknown> => iterator?.return?.();
  close().catch(() => {});
}

function isSoundEvent(event: OngoingEvent): boolean {
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
      return event.index >= 0 && isSoundBlock(event.block);
    case "usage":
      return isJsonObject(event.usage);
    case "attempt":
      return isJsonObject(event.failure) && isJsonObject(event.next);
    case "start":
      return isJsonObject(event.request) && Array.isArray(event.warnings);
    default:
      return false;
  }
}
