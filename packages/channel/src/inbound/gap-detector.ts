import type { ChannelContext } from "../contract/definition.ts";
import { ChannelError } from "../contract/errors.ts";
import type { EmitResult } from "../contract/events.ts";
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
   * Reports the gap that a crash has left, if there is one, and then marks the account as running. Call it before
   * events are received. Until a report is accepted, each call reports the gap, also in a later process.
   *
   * @param report emits a `lifecycle` event. An event id with `from` is the same for each report of a gap.
   * @throws ChannelError `transient` if the report was rejected, and the errors of `report` and of the state
   */
  begin(report: (gap: Gap) => Promise<EmitResult>): Promise<void>;
  /**
   * Records that all events so far have been stored. Call it after each accepted event. Writes at most once a minute.
   */
  note(): Promise<void>;
  /**
   * Marks an orderly stop, unless `begin` failed. Call it in `stop`, when no event is in flight.
   */
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
 * await gaps.begin((gap) =>
 *   context.emit({ ...base(`gap ${gap.from}`), type: "lifecycle", what: "gap", detail: { ...gap } }),
 * );
 * ```
 */
export function createGapDetector(
  { state, clock }: Pick<ChannelContext, "state" | "clock">,
  botId: string,
): GapDetector {
  const key = `${botId} running`;
  /** Undefined until `begin` has marked the account. */
  let notedAt: number | undefined;
  let writing: Promise<void> | undefined;

  async function mark(since: number): Promise<void> {
    await state.set(key, { since });
    notedAt = since;
  }

  return {
    async begin(report) {
      const earlier = await state.get(key);
      const since = isPayload(earlier) ? earlier["since"] : undefined;
      const to = clock.now();
      if (typeof since === "number" && (await report({ from: Math.min(since, to), to })) === "rejected")
        throw new ChannelError("transient", "the gap after a crash could not be stored");
      await mark(to);
    },
    async note() {
      const now = clock.now();
      if (notedAt === undefined || now - notedAt < NOTE_INTERVAL_MS) return;
      writing ??= mark(now).finally(() => {
        writing = undefined;
      });
      await writing;
    },
    async end() {
      await writing?.catch(() => {});
      if (notedAt === undefined) return;
      notedAt = undefined;
      await state.delete(key);
    },
  };
}
