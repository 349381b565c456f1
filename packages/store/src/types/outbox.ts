import type { Bodies, InboxId, JsonValue, LeaseToken, Millis, OutboxId, RunId } from "./common.ts";
import type { ToldEntry } from "./history.ts";

/**
 * `pending` → `sending` → `sent`; or `uncertain` (may have been sent, cannot be found out), `dead` (given up),
 * `expired` (too old to be of use).
 */
export type OutboxState = "pending" | "sending" | "sent" | "uncertain" | "dead" | "expired";

/** One reply to send. */
export interface OutboxInsert<Payload = unknown> {
  readonly channel: string;
  readonly account: string;
  /** The channel's encoded address. Rows of one (channel, account, address) are sent in order. */
  readonly address: string;
  readonly payload: Payload;
  /** Number of parts the channel will send. Default 1. */
  readonly partCount?: number;
  /**
   * Makes the row unique: a second insert with the same key gives the first row back. Default: derived from the
   * run and the position among its rows. At most 20 characters of `[0-9A-Za-z_-]`, so that a part number still fits
   * where a platform allows 25.
   */
  readonly key?: string;
  /** After this time it is no longer sent. Default: never. */
  readonly expiresAt?: Millis;
  /** Not before. Default: now. */
  readonly notBefore?: Millis;
  /**
   * The messages it answers, for a row outside the end of a run: one of a run answers the run's. Where it ends `dead`
   * or `expired`, those of them that are `replied` become `failed-reported` or `expired-reported` in the same
   * transaction, with the rule `undelivered` where they had none and a reason that begins with it.
   */
  readonly answers?: readonly InboxId[];
  /**
   * Insert it as `sending` under the lease of this write, saving the commit of a claim. After a crash such a row
   * looks doubtful though it may never have been tried: only for channels where a doubtful send can be repeated or
   * looked up, and only when nothing else waits for that address and nobody else runs the account (else it is inserted
   * `pending` all the same).
   */
  readonly claim?: boolean;
  /**
   * Goes into the history of a conversation in the same transaction, as `push` of the group history has it; not where
   * the row is there already.
   */
  readonly told?: ToldEntry;
}

/** What the platform said about one part, in the channel's own words. */
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
  /** The idempotency key for the platform, with the part's number if there are several. */
  readonly key: string;
  readonly state: OutboxState;
  /** How many times it was claimed. */
  readonly attempts: number;
  readonly nextAt: Millis;
  readonly expiresAt?: Millis;
  readonly receipts: readonly PartReceipt[];
  /** The last error, or why it ended as it did. */
  readonly error?: string;
  readonly createdAt: Millis;
  /** Of one that is `sending`: since when its first open part is tried, also by earlier holders. */
  readonly updatedAt: Millis;
}

/** Rows to work on now. */
export interface OutboxClaim<Payload = unknown> {
  /** Now `sending` and ours. `doubtful`: an earlier holder may have sent the first part without a receipt. */
  readonly rows: readonly (OutboxRow<Payload> & { readonly doubtful: boolean })[];
  /** When the next row is due; absent when none waits. */
  readonly nextAt?: Millis;
}

/** The outcome of an operator's change; `state` is the row's state before. */
export type OutboxChange =
  | { readonly outcome: "applied" | "refused"; readonly state: OutboxState }
  | { readonly outcome: "unknown" };

/** Replies: committed with the turn that made them, sent afterwards. Writes are fenced like those of runs. */
export interface OutboxStore<T extends Bodies = Bodies> {
  /** Adds rows outside the end of a run (a tool, a timer). */
  enqueue(
    rows: readonly OutboxInsert<T["outbound"]>[],
    options: { readonly lease: LeaseToken; readonly runId?: RunId; readonly sessionKey?: string },
  ): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /** Rows whose time to live has passed, of what would be sent next: to be given to {@link expire}. */
  overdue(): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Ends rows as `expired`, and gives those that it ended; one that changed since is left alone. Where it ended any,
   * the `word` about them goes into the outbox in the same transaction.
   */
  expire(
    ids: readonly string[],
    lease: LeaseToken,
    word?: OutboxInsert<T["outbound"]>,
  ): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Takes rows that are due, at most the first unfinished one of each address, and rows that a lost lease left
   * `sending`. One that waits for its next attempt, or is overdue, holds back what follows it to the same address.
   * What goes by an account that another holder has the lease of (`accountLease`) is left to that one.
   */
  claimDue(input: {
    readonly lease: LeaseToken;
    readonly limit: number;
  }): Promise<OutboxClaim<T["outbound"]>>;
  /** A receipt for one part of a row we are sending. */
  markPart(id: OutboxId, lease: LeaseToken, receipt: PartReceipt): Promise<void>;
  /** All parts were sent; `receipts` adds those that `markPart` has not recorded. */
  markSent(id: OutboxId, lease: LeaseToken, receipts?: readonly PartReceipt[]): Promise<void>;
  /** It failed and was certainly not sent: back to `pending`, not before `at`. */
  retryAt(id: OutboxId, lease: LeaseToken, at: Millis, error?: string): Promise<void>;
  /** It may have been sent; no one can know. */
  uncertain(id: OutboxId, lease: LeaseToken, error?: string): Promise<void>;
  /** Given up. The `word` about it goes into the outbox in the same transaction. */
  dead(id: OutboxId, lease: LeaseToken, error?: string, word?: OutboxInsert<T["outbound"]>): Promise<void>;
  /** The messages that a row answers; none where the row is not kept any more. */
  answers(id: string): Promise<readonly InboxId[]>;
  /** The messages that count as replied by it: if it is not sent, their senders wait in vain. */
  awaiting(id: string): Promise<readonly InboxId[]>;
  get(id: string): Promise<OutboxRow<T["outbound"]> | undefined>;
  /** The row that was inserted with a `key` of its own. */
  withKey(key: string): Promise<OutboxRow<T["outbound"]> | undefined>;
  /** The row that became this message at its platform, if it is one of the latest 2,000. */
  ofMessage(message: {
    readonly channel: string;
    readonly account: string;
    readonly messageId: string;
  }): Promise<OutboxRow<T["outbound"]> | undefined>;
  /** Whether a row to that address is `pending` or `sending`. */
  hasOpen(destination: {
    readonly channel: string;
    readonly account: string;
    readonly address: string;
  }): Promise<boolean>;
  /** Newest first. Default states: `dead`, `uncertain`, `expired`. Default limit 100. */
  list(filter?: {
    readonly states?: readonly OutboxState[];
    /** Only rows that changed after `at`, or at `at` and after the row `id`; the earliest change comes first. */
    readonly changedAfter?: { readonly at: Millis; readonly id?: string };
    readonly limit?: number;
  }): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * By an operator: a `dead`, `uncertain` or `expired` row back to `pending`, due now, its time to live lifted, and its
   * messages `replied` again; one that is `pending` is due now. Refused for one that is being sent or was.
   */
  retry(id: string): Promise<OutboxChange>;
  /**
   * By an operator: removes a row for good; messages that it answered and that are `replied` become `failed-reported`.
   * Refused for one that is being sent or was.
   */
  drop(id: string): Promise<OutboxChange>;
}
