import type { Outbound } from "@signalbox/channel";
import type {
  Bodies,
  OutboxInsert as StoreInsert,
  OutboxStore as StoreOutbox,
  OutboxRow as StoreRow,
} from "@signalbox/store/types";

/** A platform message in which a run showed its answer while writing it. */
export interface DraftReference {
  /** The idempotency key with which the draft was opened. */
  readonly key: string;
  /** Until this time, in milliseconds since the epoch, the platform resolves the key to the same message. */
  readonly until: number;
  /** Absent if the platform did not confirm the draft. In that case, the message may or may not exist. */
  readonly messageId?: string;
}

/** A message to send, as the outbox stores it. */
export interface DeliveryMessage extends Outbound {
  /** The draft that becomes the first part. A message without parts removes the draft. */
  readonly draft?: DraftReference;
  /** True if the message is a notice about undelivered messages. A failure to deliver it is not reported. */
  readonly notice?: boolean;
  /** Set if the notice is for an owner. If it is not delivered, it is sent through another account. */
  readonly ownerNotice?: OwnerNotice;
}

interface OwnerNotice {
  /** `channel:id`. */
  readonly owner: string;
  /** Identifies the notice, regardless of the account that sends it. */
  readonly id: string;
  /** Accounts that tried to deliver it. */
  readonly tried: readonly string[];
}

/** The bodies that this package reads and writes. */
export interface DeliveryBodies extends Bodies {
  readonly outbound: DeliveryMessage;
}

export type OutboxInsert = StoreInsert<DeliveryMessage>;
export type OutboxRow = StoreRow<DeliveryMessage>;
export type OutboxStore = StoreOutbox<DeliveryBodies>;

/** A row that is being sent. */
export interface ClaimedRow extends OutboxRow {
  /** True if an earlier holder may have sent the first part without a receipt. */
  readonly doubtful?: boolean;
  /** The `attempts` that the store had when this process claimed the row. Default: `attempts`. */
  readonly claim?: number;
}

/** The destination of a message. Messages with the same destination are sent one at a time. */
export type Destination = Pick<OutboxRow, "channel" | "account" | "address">;
