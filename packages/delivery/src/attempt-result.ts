import { type ChannelError, type ChannelErrorCode, isChannelError, reasonOf } from "@signalbox/channel";
import type { PartReceipt } from "@signalbox/store/types";
import type { DeliveryAccount } from "./account.ts";
import type { ClaimedRow } from "./outbox.ts";
import { isRepeatable } from "./rows.ts";

/** The result of one attempt to send a row. */
export type AttemptResult =
  /** `receipts` are those that are not stored yet. */
  | { readonly state: "sent"; readonly receipts: readonly PartReceipt[]; readonly detail: string }
  /** Try again. `doubtful`: a part may have been sent, so its outcome is determined first. */
  | {
      readonly state: "retry";
      /** Default: the backoff of the row. */
      readonly delayMs?: number;
      readonly doubtful: boolean;
      readonly reason: string;
    }
  | { readonly state: "uncertain"; readonly reason: string; readonly detail?: string }
  /** `code` is the reason why the platform rejected the message. */
  | { readonly state: "dead"; readonly reason: string; readonly code?: ChannelErrorCode }
  /** No request was made, because the platform's rate limit allows it only after `delayMs` milliseconds. */
  | { readonly state: "postponed"; readonly delayMs: number }
  /** Only another gateway can find out whether the row was sent. */
  | { readonly state: "handed_over"; readonly reason: string }
  /** Delivery was stopped before a request was made. */
  | { readonly state: "untried" };

/** The store could not record what happened on the platform. */
export class NotRecorded extends Error {
  override readonly name = "NotRecorded";

  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
  }
}

/** Maximum delay in milliseconds after rejected credentials, which an operator may fix in the meantime. */
const AUTH_RETRY_MS = 15_000;
/** Maximum number of attempts to send a notice. After that, its outcome may stay unknown. */
const MAX_NOTICE_ATTEMPTS = 5;

/** Returns the result of an attempt that threw. */
export function toAttemptResult(
  error: unknown,
  account: DeliveryAccount,
  row: Pick<ClaimedRow, "doubtful" | "payload" | "attempts">,
): AttemptResult {
  // A notice that appears twice does no harm, but without it a person would get no response at all.
  const isNotice = row.payload.notice === true && row.attempts < MAX_NOTICE_ATTEMPTS;
  if (isNotice && isChannelError(error) && error.code === "unknown_outcome")
    return { state: "retry", doubtful: false, reason: error.message };
  if (isChannelError(error)) return fromChannelError(error, account, row.doubtful === true);
  // If the store could not record a receipt, the part was sent.
  const doubtful = row.doubtful === true || error instanceof NotRecorded;
  return { state: "retry", doubtful, reason: reasonOf(error) };
}

function fromChannelError(
  { code, message, retryAfterMs }: ChannelError,
  account: DeliveryAccount,
  doubtful: boolean,
): AttemptResult {
  switch (code) {
    case "rate_limited":
    case "transient":
      return { state: "retry", delayMs: toDelay(retryAfterMs), doubtful, reason: message };
    case "auth":
      return { state: "retry", delayMs: AUTH_RETRY_MS, doubtful, reason: message };
    case "unknown_outcome":
      return isRepeatable(account.definition)
        ? { state: "retry", doubtful: true, reason: message }
        : { state: "uncertain", reason: message };
    case "permission":
    case "not_found":
    case "too_large":
    case "unsupported":
    case "invalid":
      return { state: "dead", reason: message, code };
  }
}

/** A delay of 0 or NaN would cause a tight loop, so the backoff is used instead. */
function toDelay(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : undefined;
}
