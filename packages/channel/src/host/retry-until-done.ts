import type { ChannelLogger, Clock } from "../contract/definition.ts";
import { isChannelError, reasonOf } from "../contract/errors.ts";

export interface RetryOptions {
  readonly clock: Clock;
  readonly logger?: Pick<ChannelLogger, "warn"> | undefined;
  /** Stops the attempts. */
  readonly signal: AbortSignal;
  /** The message that is logged after a failed attempt. */
  readonly failing: string;
  /** Returns true if the operation should be retried after this error. Default: always. */
  isRetryable?(error: unknown): boolean;
}

/** The first delay in milliseconds, which doubles with each attempt, and the maximum. */
const DELAY_MS = 1_000;
const MAX_DELAY_MS = 300_000;

/**
 * Retries an operation with increasing delays until it succeeds. Respects the `retryAfterMs` of errors. Never rejects.
 */
export async function retryUntilDone(work: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { clock, logger, signal, failing, isRetryable = () => true } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      if (!isRetryable(error)) return logger?.warn(failing, { reason });
      const retryAfterMs = isChannelError(error) ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = Math.max(retryAfterMs, Math.min(DELAY_MS * 2 ** failures, MAX_DELAY_MS));
      logger?.warn(failing, { reason, waitMs });
      await clock.delay(waitMs, signal).catch(() => {});
    }
  }
}
