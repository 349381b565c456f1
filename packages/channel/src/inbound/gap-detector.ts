import type { ChannelContext } from "../contract/definition.ts";
import { isPayload } from "./payload.ts";

/** A period in which events may have been lost, in milliseconds since the epoch. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/**
 * Detects that an earlier process of the account ended without calling `stop`. For channels with the intake
 * `handed_over`.
 */
export interface GapDetector {
  /**
   * Marks the account as running.
   *
   *
   * @returns the gap after a crash, for a `lifecycle` event, or `undefined` after an orderly stop
   */
  begin(): Promise<Gap | undefined>;
  /**
   * Records that all events so far have been stored. Call it after each accepted event. Writes at most once a minute.
   */
  note(): Promise<void>;
  /** Marks an orderly stop. Call it in `close`, when no event is in flight. */
  end(): Promise<void>;
}

/** Minimum interval between writes of `note` in milliseconds. A gap may appear longer than it was by this amount. */
const NOTE_INTERVAL_MS = 60_000;

/**
 * Creates a gap detector.
 *
 * @param botId the platform's id of the bot
 * @example
 * ```ts
 * const gaps = createGapDetector(context, botId);
 * const gap = await gaps.begin();
 * if (gap !== undefined)
 *   await context.emit({ ...base(`gap ${gap.to}`), type: "lifecycle", what: "gap", detail: { ...gap } });
 * ```
 */
export function createGapDetector(
  { state, clock }: Pick<ChannelContext, "state" | "clock">,
  botId: string,
): GapDetector {
  const key = `${botId} running`;
  let notedAt: number | undefined;

  async function mark(): Promise<void> {
    notedAt = clock.now();
    await state.set(key, { since: notedAt });
  }

  return {
    async begin() {
      const earlier = await state.get(key);
      await mark();
      const since = isPayload(earlier) ? earlier["since"] : undefined;
      if (typeof since !== "number") return undefined;
      const to = clock.now();
      return { from: Math.min(since, to), to };
    },
    async note() {
      if (notedAt !== undefined && clock.now() - notedAt >= NOTE_INTERVAL_MS) await mark();
    },
    async end() {
      notedAt = undefined;
      await state.delete(key);
    },
  };
}
