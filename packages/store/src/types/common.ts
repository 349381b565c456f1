/** Any value that survives a JSON round trip. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** `pending` → `allowed` → `used`, or `denied`. `expired` if the request was not decided or not used in time. */
export type ApprovalState = "pending" | "allowed" | "denied" | "used" | "expired";

/** The fields of an approval request that the store uses. Other fields belong to the host. */
export interface ApprovalBody {
  readonly id: string;
  readonly sessionKey: string;
  /** Identical for identical requests. */
  readonly hash: string;
  readonly state: ApprovalState;
  /** The person who made the decision. */
  readonly approver?: string;
  readonly grant?: string;
  readonly createdAt: Millis;
  readonly decidedAt?: Millis;
}

/**
 * Types of the host's bodies. The store never inspects a body. A body must survive `JSON.stringify` and `JSON.parse`.
 */
export interface Bodies {
  /** A message in a conversation. */
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

/** A ULID: 26 characters in Crockford's base 32. Ids are ordered only by their time in milliseconds. */
export type InboxId = Branded<"inbox">;
/** A ULID, like {@link InboxId}. */
export type RunId = Branded<"run">;
/** A ULID, like {@link InboxId}. */
export type OutboxId = Branded<"outbox">;

/** Milliseconds since the epoch. */
export type Millis = number;

/**
 * The role of a speaker. A `guest` is anyone else who may be answered. `system` is the gateway itself, for instance a
 * schedule or a heartbeat. It has fewer rights than an owner, because no owner is present.
 */
export type Role = "owner" | "member" | "guest" | "system";

/**
 * A fencing token. Each write includes it to prove that the caller still acts for the holder of the lease. A `Lease` is
 * a fencing token.
 */
export interface LeaseToken {
  readonly name: string;
  readonly epoch: number;
}
