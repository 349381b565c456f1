import type { ReconcileResult, SendIntent } from "../contract/messages.ts";

/** Maximum difference between the platform's clock and ours, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
/** Maximum time after the first attempt during which a message may still appear, in milliseconds. */
const MAX_DELAY_MS = 3_600_000;

/** Returns the period in which a message with an unknown outcome may have appeared, in milliseconds since the epoch. */
export function sendWindow({ attemptedAt }: Pick<SendIntent, "attemptedAt">): {
  readonly start: number;
  readonly end: number;
} {
  return { start: attemptedAt - CLOCK_SKEW_MS, end: attemptedAt + MAX_DELAY_MS };
}

/**
 * Creates the result of a search for a message in the platform's history.
 *
 * @param messageId the message, if it was found
 * @param isConclusive true if the search covered every message that may be the one
 */
export function reconciledFrom(messageId: string | undefined, isConclusive: boolean): ReconcileResult {
  if (messageId !== undefined) return { outcome: "sent", messageId };
  return { outcome: isConclusive ? "not_sent" : "unknown" };
}
