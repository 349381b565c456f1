import type { Json, Outbound } from "@signalbox/channel";

/** Milliseconds since the epoch. */
export type Millis = number;

/** A message at a platform in which a run has shown its answer while it wrote it. */
export interface DraftReference {
  /** The idempotency key it was opened under. */
  readonly key: string;
  /** Until then the key leads to the same message. */
  readonly until: Millis;
  /** Absent where the platform did not tell: the message may be there or not. */
  readonly messageId?: string;
}

/** A message as the outbox keeps it. */
export interface DeliveryMessage extends Outbound {
  /** Becomes the first part; if there are no parts, it is taken back. */
  readonly draft?: DraftReference;
  /** A notice about undelivered messages. If it is not delivered itself, that is not reported. */
  readonly notice?: boolean;
}

/** Where a message goes. Messages of one destination are sent one after the other. */
export interface Destination {
  readonly channel: string;
  readonly account: string;
  /** As the channel's codec encodes it. */
  readonly address: string;
}

/**
 * `pending` → `sending` → `sent`; or `uncertain` (may have been sent, cannot be found out), `dead` (given up),
 * `expired` (too old to be useful).
 */
export type OutboxState = "pending" | "sending" | "sent" | "uncertain" | "dead" | "expired";

/** What the next run of a conversation is told of a message that was sent there from elsewhere. */
export interface ToldThere {
  /** As the host names it. */
  readonly conversation: string;
  readonly id: string;
  readonly senderId: string;
  readonly body: Readonly<Record<string, string>>;
  readonly at: Millis;
}

/** A message to put into the outbox. */
export interface OutboxInsert extends Destination {
  readonly payload: DeliveryMessage;
  /** How many parts the channel will send. Default 1. */
  readonly partCount?: number;
  /**
   * Makes the row unique: a second insert under the same key gives the first row back. At most 20 characters of
   * `[0-9A-Za-z_-]`, so that a part's number still fits where a platform allows 25. Default: derived by the store.
   */
  readonly key?: string;
  /** From then on it is not sent any more. Default: never. */
  readonly expiresAt?: Millis;
  /**
   * Insert it as `sending`, which saves the commit of a claim. After a crash such a row looks doubtful though it may
   * never have been tried: only for channels where `isRepeatable` holds. Where something waits for the same
   * address, the row is inserted as `pending` all the same.
   */
  readonly claim?: boolean;
  /** Kept in the same transaction; not where the row is there already, since it may have been told since. */
  readonly told?: ToldThere;
}

/** What the platform said about one part. */
export interface StoredReceipt {
  readonly part: number;
  readonly receipt: Json;
}

export interface OutboxRow extends Destination {
  readonly id: string;
  /** The run that it is an answer of. */
  readonly runId?: string;
  /** The conversation that it is of. */
  readonly sessionKey?: string;
  readonly payload: DeliveryMessage;
  readonly partCount: number;
  /** The idempotency key for the platform. */
  readonly key: string;
  readonly state: OutboxState;
  /** How often it was claimed. */
  readonly attempts: number;
  readonly expiresAt?: Millis;
  readonly receipts: readonly StoredReceipt[];
  /** Of one that is `sending`: since when its first open part is tried, also by earlier holders. */
  readonly updatedAt: Millis;
}

/** A row that is being sent. `doubtful`: an earlier holder may have sent its first open part without a receipt. */
export type ClaimedRow<Row extends OutboxRow = OutboxRow> = Row & { readonly doubtful?: boolean };

/** Proof of the right to write: writes under a lease that another process has taken since are refused. */
export interface LeaseToken {
  readonly name: string;
  readonly epoch: number;
}

/** What delivery asks of the store that holds the outbox. Each method is one transaction. */
export interface OutboxStore<Row extends OutboxRow = OutboxRow> {
  /** Adds rows; for an existing key, the existing row is returned. */
  enqueue(
    rows: readonly OutboxInsert[],
    options: {
      readonly lease: LeaseToken /** The conversation that they are of. */;
      readonly sessionKey?: string;
    },
  ): Promise<readonly Row[]>;
  /** Rows whose time to live has passed, of what would be sent next: to be given to {@link expire}. */
  overdue(): Promise<readonly Row[]>;
  /**
   * Ends rows as `expired`, and gives those that it ended; one that changed since is left alone. Where it ended any,
   * the `word` about them is added in the same transaction.
   */
  expire(ids: readonly string[], lease: LeaseToken, word?: OutboxInsert): Promise<readonly Row[]>;
  /**
   * Takes rows that are due, at most the first open one of each destination, and rows that a lost lease left `sending`.
   * One that waits for its next attempt, or is overdue, holds back what follows it to the same destination. A clock
   * that is set back has nothing wait.
   */
  claimDue(input: { readonly lease: LeaseToken; readonly limit: number }): Promise<{
    readonly rows: readonly (Row & { readonly doubtful: boolean })[];
    /** When the next row is due; absent when none waits. */
    readonly nextAt?: Millis;
  }>;
  /** A receipt for one part of a row that we are sending. */
  markPart(id: string, lease: LeaseToken, receipt: StoredReceipt): Promise<void>;
  /** All parts are out; `receipts` adds those that `markPart` has not recorded. */
  markSent(id: string, lease: LeaseToken, receipts?: readonly StoredReceipt[]): Promise<void>;
  /** It certainly was not sent: back to `pending`, not before `at`. */
  retryAt(id: string, lease: LeaseToken, at: Millis, reason?: string): Promise<void>;
  /** It may have been sent; no one can know. */
  uncertain(id: string, lease: LeaseToken, reason?: string): Promise<void>;
  /** Given up. The `word` about it is added in the same transaction. */
  dead(id: string, lease: LeaseToken, reason?: string, word?: OutboxInsert): Promise<void>;
  /** The inbound messages that count as answered by a row: where it is not sent, their senders wait in vain. */
  awaiting(id: string): Promise<readonly string[]>;
  get(id: string): Promise<Row | undefined>;
  withKey(key: string): Promise<Row | undefined>;
  /** The row that became this message at its platform, if it is one of the latest 2,000. */
  ofMessage(message: {
    readonly channel: string;
    readonly account: string;
    readonly messageId: string;
  }): Promise<Row | undefined>;
  /** Whether a row to that destination is `pending` or `sending`. */
  hasOpen(destination: Destination): Promise<boolean>;
  /** Newest first. Default states: `dead`, `uncertain`, `expired`. Default limit 100. */
  list(filter?: {
    readonly states?: readonly OutboxState[];
    /** Only rows that changed later than `at`, or then and behind the row `id`; the earliest change comes first. */
    readonly changedAfter?: { readonly at: Millis; readonly id?: string };
    readonly limit?: number;
  }): Promise<readonly Row[]>;
}
