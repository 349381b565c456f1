/** Any value that survives a JSON round trip. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

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
}

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A ULID: 26 characters of Crockford's base 32. Only their time, to the millisecond, says something of their order. */
export type InboxId = Branded<"inbox">;
/** A ULID, as {@link InboxId}. */
export type RunId = Branded<"run">;
/** A ULID, as {@link InboxId}. */
export type OutboxId = Branded<"outbox">;

/** Milliseconds since the epoch. */
export type Millis = number;

/**
 * Proof of a lease: what a write presents to show that it still speaks for its holder. A full
 * {@link Lease} is one.
 */
export interface LeaseToken {
  readonly name: string;
  readonly epoch: number;
}
