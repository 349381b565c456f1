import type { Outbound } from "@signalbox/channel";
import type {
  Bodies,
  OutboxInsert as StoreInsert,
  OutboxStore as StoreOutbox,
  OutboxRow as StoreRow,
} from "@signalbox/store/types";

/** A platform message in which a run showed its answer while it wrote it. */
export interface DraftReference {
  /** The idempotency key that the draft was opened with. */
  readonly key: string;
  /** Until then the platform resolves the key to the same message; milliseconds since the epoch. */
  readonly until: number;
  /** Absent if the platform did not confirm the draft: the message may or may not exist. */
  readonly messageId?: string;
}

/** A message to send, as the outbox stores it. */
export interface DeliveryMessage extends Outbound {
  /** Becomes the first part. A message without parts removes the draft. */
  readonly draft?: DraftReference;
  /** The message is a notice about undelivered messages. If it is not delivered itself, that is not reported. */
  readonly notice?: boolean;
  /** The notice goes to an owner. If it is not delivered, it is sent through another account. */
  readonly ownerNotice?: OwnerNotice;
}

interface OwnerNotice {
  /** `channel:id`. */
  readonly owner: string;
  /** Identifies the notice, whatever account sends it. */
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
  /** An earlier holder may have sent the first part without a receipt. */
  readonly doubtful?: boolean;
}

/** The destination of a message. Messages with the same destination are sent one after the other. */
export type Destination = Pick<OutboxRow, "channel" | "account" | "address">;
