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

/** What the store knows of a question to people about one tool call; its content belongs to the host. */
export interface ApprovalBody {
  readonly id: string;
  readonly sessionKey: string;
  /** The same for the same question. */
  readonly hash: string;
  readonly state: ApprovalState;
  /** Who decided. */
  readonly approver?: string;
  readonly grant?: string;
  readonly createdAt: Millis;
  readonly decidedAt?: Millis;
}

/**
 * What the host keeps in the store. The store never looks inside: a body goes in through `JSON.stringify` and
 * comes out through `JSON.parse`, so it must survive that.
 */
export interface Bodies {
  /** One message of a conversation. */
  readonly message: unknown;
  /** One normalised inbound event. */
  readonly inbound: unknown;
  /** One reply to send. */
  readonly outbound: unknown;
  /** One question to people. */
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

/** Proof of a lease, which a write presents to show that it still acts for its holder. A full `Lease` is one. */
export interface LeaseToken {
  readonly name: string;
  readonly epoch: number;
}
