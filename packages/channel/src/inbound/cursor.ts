import type { ChannelLogger, ChannelState } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import type { Json } from "../contract/json.ts";
import type { HandleResult } from "./webhook.ts";

export interface CursorOptions<Position extends Json> {
  readonly state: ChannelState;
  /** Key in the state. Must begin with the bot's id. */
  readonly key: string;
  /** Validates a stored position. Returns `undefined` if it is invalid. Reading then starts over. */
  parse(stored: Json): Position | undefined;
  readonly logger: Pick<ChannelLogger, "warn">;
}

/** The position up to which events have been read, for a platform whose events can be read from a position. */
export interface Cursor<Position extends Json> {
  /**
   * Returns the position after which to read, or `undefined` on the first start. Call it before reading begins, and
   * after `advance` returned `rejected`.
   */
  load(): Promise<Position | undefined>;
  /**
   * Handles the event at a position, after the events of earlier calls, and stores the position unless the event was
   * rejected. After a rejected event, later calls do not run `work` until the next `load`.
   *
   * @returns the result of `work`, or `rejected` if it throws or an earlier event was rejected
   */
  advance(position: Position, work: () => Promise<HandleResult>): Promise<HandleResult>;
}

/**
 * Creates a cursor. A position is stored only after `emit` has accepted its event and all events before it, so a crash
 * causes events to be read again but never skipped. If the position cannot be stored, the events after the stored one
 * are read again at the next start; the host recognizes the duplicates.
 *
 * @example
 * ```ts
 * const cursor = createCursor({ state, key: `${botId} cursor`, parse: readPosition, logger });
 * for await (const row of rowsAfter(await cursor.load()))
 *   if ((await cursor.advance(row.id, () => context.emit(toEvent(row)))) === "rejected") break;
 * ```
 */
export function createCursor<Position extends Json>(options: CursorOptions<Position>): Cursor<Position> {
  const { state, key, parse, logger } = options;
  let last: Promise<unknown> = Promise.resolve();
  let isBlocked = false;

  async function handle(position: Position, work: () => Promise<HandleResult>): Promise<HandleResult> {
    if (isBlocked) return "rejected";
    let result: HandleResult = "rejected";
    try {
      result = await work();
    } catch (error) {
      logger.warn("failed to store an event; it will be read again", { reason: reasonOf(error) });
    }
    if (result === "rejected") {
      isBlocked = true;
      return result;
    }
    try {
      await state.set(key, position);
    } catch (error) {
      logger.warn("the position could not be stored; events may be read again", { reason: reasonOf(error) });
    }
    return result;
  }

  return {
    async load() {
      await last;
      isBlocked = false;
      const stored = await state.get(key);
      return stored === undefined ? undefined : parse(stored);
    },
    advance(position, work) {
      const handled = last.then(() => handle(position, work));
      last = handled;
      return handled;
    },
  };
}
