import type { Millis } from "./common.ts";

/** The subject area of an audit event. */
export type AuditKind = "approval" | "configuration" | "pairing" | "sign_in" | "token" | "tool";

/** A decision to record. */
export interface AuditEvent {
  readonly at: Millis;
  readonly kind: AuditKind;
  /** The decision, as a code: `allowed`, `revoked`, `signed_in`. */
  readonly action: string;
  /** The person or component that decided. */
  readonly actor: string;
  /** Subject of the decision. */
  readonly subject: string;
  /** More facts about it, without secrets. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** A recorded event and its place in the hash chain. */
export interface AuditEntry extends AuditEvent {
  /** Starts at 1 and has no gaps. */
  readonly seq: number;
  /** SHA-256 of the event, its number and the hash of the previous entry, in hexadecimal. */
  readonly hash: string;
}

/** The end of a chain. */
export interface AuditHead {
  /** Number of entries in the chain. */
  readonly count: number;
  /** Hash of the last entry; empty for an empty chain. */
  readonly hash: string;
}

/** Selects entries of an {@link AuditLog}. */
export interface AuditQuery {
  /** Returns only entries with a higher number. Default 0. */
  readonly after?: number;
  readonly kind?: AuditKind;
  /** Default 1,000. */
  readonly limit?: number;
}

/** An append-only log of decisions. Each entry is linked to the previous one by its hash. */
export interface AuditLog {
  /**
   * Appends an event. Resolves once the entry is durable; entries are in the order of the calls. The write waits
   * briefly for another write to share a commit with.
   */
  append(event: AuditEvent): Promise<void>;
  /** Returns entries, oldest first. */
  list(query?: AuditQuery): Promise<readonly AuditEntry[]>;
  /** Returns the last `count` entries, oldest first. */
  latest(count: number): Promise<readonly AuditEntry[]>;
  head(): Promise<AuditHead>;
}
