import type { ChannelErrorCode, Clock, SendOptions } from "@signalbox/channel";
import type { LeaseToken, Logger } from "@signalbox/store/types";
import type { AccountLookup } from "./account.ts";
import type { SentMessage } from "./find-sent-row.ts";
import type { GetLeaseMs } from "./lease-limit.ts";
import type { OutboxRow, OutboxStore } from "./outbox.ts";
import type { GetLanguage } from "./row-phrases.ts";

export interface DeliveryOptions {
  readonly outbox: Pick<
    OutboxStore,
    | "claimDue"
    | "overdue"
    | "expire"
    | "markPart"
    | "markSent"
    | "retryAt"
    | "handOver"
    | "uncertain"
    | "dead"
    | "notDelivered"
    | "ofMessage"
    | "hasPartlySent"
    | "awaiting"
    | "get"
  >;
  readonly lease: LeaseToken;
  /**
   * Returns the remaining duration of the lease in milliseconds. Without a lease, nothing is sent, and requests are
   * aborted 500 ms before its end, because another process may take over the rows. Default: the lease never ends.
   */
  readonly getLeaseMs?: GetLeaseMs;
  /** Returns an account if it is running. */
  readonly account: AccountLookup;
  readonly logger: Pick<Logger, "warn" | "error">;
  /**
   * Returns true if an account is configured. Rows of a configured account wait until it is running. Others are given
   * up. Default: every account is configured.
   */
  readonly configured?: (channel: string, account: string) => boolean;
  /** Returns the accounts whose rows only another process can send. They are left in the outbox. Default: none. */
  readonly unableToSend?: () => readonly Pick<OutboxRow, "channel" | "account">[];
  /** Opens the bytes of an attachment. Default: sending an attachment fails. */
  readonly openMedia?: NonNullable<SendOptions["openMedia"]>;
  /** Returns the language for notices about undelivered replies. Default: the language of the reply. */
  readonly getLanguage?: GetLanguage;
  /** Returns true if a failed write to the store may succeed later. Default: `isRetryable` of `@signalbox/store`. */
  readonly isRetryable?: (error: unknown) => boolean;
  /**
   * Called with the outcome of each attempt. `retry` is not final; it is reported only if its reason differs from the
   * previous one. Default: none.
   */
  readonly onOutcome?: (row: OutboxRow, outcome: DeliveryOutcome, detail: string) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Returns numbers in [0, 1) for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number;
}

/** The outcome of an attempt. All but `retry` are final. */
export type DeliveryOutcome = "sent" | "retry" | "dead" | "uncertain" | "expired";

/** A report from a platform that it did not deliver a message although it had accepted it. */
export interface NonDelivery extends SentMessage {
  readonly reason: string;
  /** The code with which `send` would have failed, if known. */
  readonly code?: ChannelErrorCode;
}

/** Sends the rows of an outbox: in parallel to different destinations, and in order to each destination. */
export interface Delivery {
  /** Sends rows that have just been committed. */
  deliver(rows: readonly OutboxRow[]): void;
  /** Looks for due rows. Call it on start and after rows were added without `deliver`. */
  wake(): void;
  /**
   * Resolves once a row is neither pending nor being sent. Does not resolve if another process sends the row.
   *
   * @param rowId an unknown id counts as ended
   */
  ended(rowId: string): Promise<void>;
  /**
   * Ends the row of a message that was not delivered as `dead`. If the content was rejected, the sender of the answered
   * message gets a notice.
   *
   * @returns the row, even if it had already ended; `busy` if it is still being sent, so the report must be repeated;
   * `undefined` if no row became this message
   */
  notDelivered(report: NonDelivery): Promise<OutboxRow | "busy" | undefined>;
  /** Stops claiming rows. Resolves once the current sends have ended, and aborts them after `drainMs` milliseconds. */
  stop(drainMs: number): Promise<void>;
  /** Returns the number of rows that are being sent. */
  inFlight(): number;
}
