import { type ChannelError, type ChannelErrorCode, isChannelError, reasonOf } from "@signalbox/channel";
import type { DeliveryAccount } from "./account.ts";
import type { StoredReceipt } from "./outbox.ts";
import { isRepeatable } from "./rows.ts";

/** The outcome of an attempt at a row. */
export type Settlement =
  /** `receipts` are those that are not recorded yet. */
  | { readonly state: "sent"; readonly receipts: readonly StoredReceipt[]; readonly detail: string }
  /** To be tried again. `doubtful`: a part may be out already, so that it is looked for first. */
  | {
      readonly state: "retry";
      /** Default: by the backoff of the row. */
      readonly delayMs?: number | undefined;
      readonly doubtful: boolean;
      readonly reason: string;
    }
  | { readonly state: "uncertain"; readonly reason: string; readonly detail?: string }
  /** `code`: why the platform does not take it. */
  | { readonly state: "dead"; readonly reason: string; readonly code?: ChannelErrorCode }
  /** Ended by a stop before a request was made. */
  | { readonly state: "untried" };

/** What happened at a platform could not be recorded. */
export class NotRecorded extends Error {
  override readonly name = "NotRecorded";

  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
  }
}

/** How long to wait after refused credentials, since a person may fix them, in milliseconds. */
const AUTH_RETRY_MS = 60_000;

/** What follows from an attempt that threw. */
export function settlementOf(
  error: unknown,
  account: DeliveryAccount,
  row: { readonly doubtful?: boolean },
): Settlement {
  if (isChannelError(error)) return settlementOfRefusal(error, account, row.doubtful === true);
  // What the platform took and the store could not record is out.
  const doubtful = row.doubtful === true || error instanceof NotRecorded;
  return { state: "retry", doubtful, reason: reasonOf(error) };
}

function settlementOfRefusal(
  { code, message, retryAfterMs }: ChannelError,
  account: DeliveryAccount,
  doubtful: boolean,
): Settlement {
  switch (code) {
    case "rate_limited":
    case "transient":
      return { state: "retry", delayMs: waitIn(retryAfterMs), doubtful, reason: message };
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

/** A platform that names no time to wait would be asked again at once, for ever: the backoff says when instead. */
function waitIn(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : undefined;
}
