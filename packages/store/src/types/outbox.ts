import type { Bodies, InboxId, JsonValue, LeaseToken, Millis, OutboxId, RunId } from "./common.ts";
import type { ToldEntry } from "./history.ts";

/**
 * `pending` → `sending` → `sent`, or one of `uncertain` (may have been sent, outcome unknown), `dead` (given up) and
 * `expired` (time to live has passed).
 */
export type OutboxState = "pending" | "sending" | "sent" | "uncertain" | "dead" | "expired";

/** A reply to send. */
export interface OutboxInsert<Payload = unknown> {
  readonly channel: string;
  readonly account: string;
  /** The channel's encoded address. Rows with the same channel, account and address are sent in order. */
  readonly address: string;
  readonly payload: Payload;
  /** Number of parts that the channel will send. Default: 1. */
  readonly partCount?: number;
  /**
   * Makes the row unique: a second insert with the same key returns the first row. Default: derived from the run and
   * the row's position. At most 20 characters of `[0-9A-Za-z_-]`, which leaves room for a part number on platforms that
   * allow 25.
   */
  readonly key?: string;
  /** The row is not sent after this time. Default: never expires. */
  readonly expiresAt?: Millis;
  /** The row is not sent before this time. Default: now. */
  readonly notBefore?: Millis;
  /**
   * The messages that the row answers, if it does not belong to a run; a row of a run answers the run's messages. If
   * the row ends `dead` or `expired`, its messages become `unreported` in the same transaction, with a reason that
   * begins with `undelivered`.
   */
  readonly answers?: readonly InboxId[];
  /**
   * The `unreported` messages that the row, a notice, is about. They become `failed-reported` or `expired-reported`
   * when it is sent.
   */
  readonly reports?: readonly InboxId[];
  /**
   * Inserts the row as `sending` under the lease of this write, which saves a commit. After a crash, such a row is
   * doubtful even if sending was never attempted. Use this only for channels on which a doubtful send can be repeated
   * or looked up. The row is inserted as `pending` if other rows are waiting for the same address or if another holder
   * runs the account.
   */
  readonly claim?: boolean;
  /** Entry to add to the group history in the same transaction, unless a row with the same key exists. */
  readonly told?: ToldEntry;
}

/** The platform's receipt for a part, in the channel's own format. */
export interface PartReceipt {
  readonly part: number;
  readonly receipt: JsonValue;
}

export interface OutboxRow<Payload = unknown> {
  readonly id: OutboxId;
  readonly runId?: RunId;
  readonly sessionKey?: string;
  readonly channel: string;
  readonly account: string;
  readonly address: string;
  readonly payload: Payload;
  readonly partCount: number;
  /** The idempotency key for the platform. If there are several parts, append the part number. */
  readonly key: string;
  readonly state: OutboxState;
  /** Number of times the row was claimed. */
  readonly attempts: number;
  readonly nextAt: Millis;
  readonly expiresAt?: Millis;
  readonly receipts: readonly PartReceipt[];
  /** The last error, or the reason for the final state. */
  readonly error?: string;
  readonly createdAt: Millis;
  /** In the state `sending`: time of the first attempt, by any holder, to send the first open part. */
  readonly updatedAt: Millis;
}

/** Claimed rows. */
export interface OutboxClaim<Payload = unknown> {
  /**
   * Rows that are now `sending` under the caller's lease. `doubtful`: an earlier holder may have sent the first open
   * part without storing its receipt.
   */
  readonly rows: readonly (OutboxRow<Payload> & { readonly doubtful: boolean })[];
  /** Time at which the next row is due. Absent if no row is waiting. */
  readonly nextAt?: Millis;
}

/** The outcome of an operator's change. `state` is the state before the change. */
export type OutboxChange =
  | { readonly outcome: "applied" | "refused"; readonly state: OutboxState }
  | { readonly outcome: "unknown" };

/**
 * Stores replies. Replies are committed together with the turn that created them and sent afterwards. Writes are fenced
 * like those of runs.
 */
export interface OutboxStore<T extends Bodies = Bodies> {
  /** Adds rows outside the end of a run, for example from a tool or a timer. */
  enqueue(
    rows: readonly OutboxInsert<T["outbound"]>[],
    options: { readonly lease: LeaseToken; readonly runId?: RunId; readonly sessionKey?: string },
  ): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /** Returns the expired rows among those that would be sent next. Pass them to {@link expire}. */
  overdue(): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Ends rows as `expired` and returns them. Ignores rows that changed in the meantime. If any row ended, `word`, a
   * notice about these rows, is added to the outbox in the same transaction.
   */
  expire(
    ids: readonly string[],
    lease: LeaseToken,
    word?: OutboxInsert<T["outbound"]>,
  ): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Claims due rows: at most the first unfinished row of each address, and rows that a lost lease left in the state
   * `sending`. A row that has expired or is waiting for its next attempt blocks later rows to the same address.
   *
   * @param input.except rows of these accounts are not claimed; default: none
   */
  claimDue(input: {
    readonly lease: LeaseToken;
    readonly limit: number;
    readonly except?: readonly Pick<OutboxInsert, "channel" | "account">[];
  }): Promise<OutboxClaim<T["outbound"]>>;
  /** Stores the receipt of a part of a row that is being sent. */
  markPart(id: OutboxId, lease: LeaseToken, receipt: PartReceipt): Promise<void>;
  /** Marks a row as sent. `receipts` adds the receipts that `markPart` has not stored yet. */
  markSent(id: OutboxId, lease: LeaseToken, receipts?: readonly PartReceipt[]): Promise<void>;
  /** Returns a row that was definitely not sent to `pending`, for another attempt at `at`. */
  retryAt(id: OutboxId, lease: LeaseToken, at: Millis, error?: string): Promise<void>;
  /**
   * Leaves a row that may have been sent to any other holder, for example because this one lost the connection of the
   * account. The row stays `sending`, so that it is claimed as doubtful.
   */
  handOver(id: OutboxId, lease: LeaseToken): Promise<void>;
  /**
   * Ends a row that may have been sent, if the outcome cannot be determined. `word`, a notice about the row, is added
   * to the outbox in the same transaction.
   */
  uncertain(
    id: OutboxId,
    lease: LeaseToken,
    error?: string,
    word?: OutboxInsert<T["outbound"]>,
  ): Promise<void>;
  /** Marks a row as given up. `word`, a notice about the row, is added to the outbox in the same transaction. */
  dead(id: OutboxId, lease: LeaseToken, error?: string, word?: OutboxInsert<T["outbound"]>): Promise<void>;
  /**
   * Marks a `sent` row as given up because the platform later reported that it was not delivered. The row keeps its
   * receipts, and its `replied` messages become `unreported`. `word`, a notice about the row, is added to the outbox in
   * the same transaction.
   *
   * @returns false if the row is not `sent`
   */
  notDelivered(
    id: OutboxId,
    lease: LeaseToken,
    error: string,
    word?: OutboxInsert<T["outbound"]>,
  ): Promise<boolean>;
  /** Returns the messages that a row answers. Returns none if the row was pruned. */
  answers(id: string): Promise<readonly InboxId[]>;
  /** Returns the messages whose senders learn the outcome (an answer or a failure) from this row. */
  awaiting(id: string): Promise<readonly InboxId[]>;
  get(id: string): Promise<OutboxRow<T["outbound"]> | undefined>;
  /** Returns the row that was inserted with this explicit `key`. */
  withKey(key: string): Promise<OutboxRow<T["outbound"]> | undefined>;
  /** Returns the row that was sent as this platform message, if it is among the latest 2,000 rows. */
  ofMessage(message: {
    readonly channel: string;
    readonly account: string;
    readonly messageId: string;
  }): Promise<OutboxRow<T["outbound"]> | undefined>;
  /** Returns whether any row to this address is `pending` or `sending`. */
  hasOpen(destination: {
    readonly channel: string;
    readonly account: string;
    readonly address: string;
  }): Promise<boolean>;
  /**
   * Returns true if a row to this address is `sending`, or is `pending` after some of its parts were sent. Unlike with
   * `hasOpen`, a row that was not tried does not count.
   */
  hasPartlySent(destination: {
    readonly channel: string;
    readonly account: string;
    readonly address: string;
  }): Promise<boolean>;
  /** Returns rows, newest first. Default states: `dead`, `uncertain`, `expired`. Default limit: 100. */
  list(filter?: {
    readonly states?: readonly OutboxState[];
    /**
     * Only rows that changed after `at`, or at `at` and after the row `id`. Returned in order of change, earliest
     * first.
     */
    readonly changedAfter?: { readonly at: Millis; readonly id?: string };
    readonly limit?: number;
  }): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Retries a row for an operator. A `dead`, `uncertain` or `expired` row becomes `pending` and due now, without a time
   * to live, and its messages become `replied` again. A `pending` row becomes due now. Refuses a row that is being sent
   * or was sent, even if the platform reported that it was not delivered, because the platform would recognize its
   * idempotency key.
   */
  retry(id: string): Promise<OutboxChange>;
  /**
   * Removes a row for an operator. Its `replied` messages become `failed-reported`. Refuses a row that is being sent or
   * was sent.
   */
  drop(id: string): Promise<OutboxChange>;
}
