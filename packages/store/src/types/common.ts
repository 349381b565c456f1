/** Any value that survives a JSON round trip. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** `pending` → `allowed` → `used`, or `denied`; `expired` if it was not decided or used in time. */
export type ApprovalState = "pending" | "allowed" | "denied" | "used" | "expired";

/** The fields of an approval request that the store uses. Other fields belong to the host. */
export interface ApprovalBody {
  readonly id: string;
  readonly sessionKey: string;
  /** Equal for equal requests. */
  readonly hash: string;
  readonly state: ApprovalState;
  /** The person who decided. */
  readonly approver?: string;
  readonly grant?: string;
  readonly createdAt: Millis;
  readonly decidedAt?: Millis;
}

/**
 * Types of the host's bodies. The store never inspects a body: it passes through `JSON.stringify` and `JSON.parse`, and
 * must survive that.
 */
export interface Bodies {
  /** A message of a conversation. */
  readonly message: unknown;
  /** A normalized inbound event. */
  readonly inbound: unknown;
  /** A reply to send. */
  readonly outbound: unknown;
  /** An approval request. */
  readonly approval: ApprovalBody;
}

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A ULID: 26 characters of Crockford's base 32. Ids are ordered only by their time, to the millisecond. */
export type InboxId = Branded<"inbox">;
/** A ULID, as {@link InboxId}. */
export type RunId = Branded<"run">;
/** A ULID, as {@link InboxId}. */
export type OutboxId = Branded<"outbox">;

/** Milliseconds since the epoch. */
export type Millis = number;

/** A fencing token. Writes present it to prove that they still act for the holder of the lease. A `Lease` is one. */
export interface LeaseToken {
  readonly name: string;
  readonly epoch: number;
}
