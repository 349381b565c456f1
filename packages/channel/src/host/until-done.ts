import type { ChannelLogger, Clock } from "../contract/definition.ts";
import { isChannelError, reasonOf } from "../contract/errors.ts";

export interface UntilDoneOptions {
  readonly clock: Clock;
  readonly logger?: Pick<ChannelLogger, "warn"> | undefined;
  /** Ends the trying. */
  readonly signal: AbortSignal;
  /** For the log: what has not been done yet. */
  readonly failing: string;
  /** Whether there is no use in trying again. Default: there always is. */
  isHopeless?(error: unknown): boolean;
}

/** Between two tries: the first pause, which doubles, and the longest. */
const pauseMs = 1_000;
const mostPauseMs = 300_000;

/** Tries until it succeeds, ever later, or as late as the platform asks. Never rejects. */
export async function untilDone(work: () => Promise<void>, options: UntilDoneOptions): Promise<void> {
  const { clock, logger, signal, failing, isHopeless = () => false } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      if (isHopeless(error)) return logger?.warn(failing, { reason });
      const asked = isChannelError(error) ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = Math.max(asked, Math.min(pauseMs * 2 ** failures, mostPauseMs));
      logger?.warn(failing, { reason, waitMs });
      await clock.delay(waitMs, signal).catch(() => {});
    }
  }
}
