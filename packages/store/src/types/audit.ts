import type { Millis } from "./common.ts";

/** The area that an audit event belongs to. */
export type AuditKind = "approval" | "configuration" | "operation" | "pairing" | "sign_in" | "token" | "tool";

/** A decision to record. */
export interface AuditEvent {
  readonly at: Millis;
  readonly kind: AuditKind;
  /** A code for the decision: `allowed`, `revoked`, `signed_in`. */
  readonly action: string;
  /** The person or component that made the decision. */
  readonly actor: string;
  /** The subject of the decision. */
  readonly subject: string;
  /** More facts about the decision, without secrets. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** A recorded event and its position in the hash chain. */
export interface AuditEntry extends AuditEvent {
  /** Starts at 1 and increases without gaps. */
  readonly seq: number;
  /** SHA-256 of the event, its number and the previous entry's hash, in hexadecimal. */
  readonly hash: string;
}

/** The last link of a chain. */
export interface AuditHead {
  /** Number of entries in the chain. */
  readonly count: number;
  /** Hash of the last entry. Empty if the chain is empty. */
  readonly hash: string;
}

/** Selects entries of an {@link AuditLog}. */
export interface AuditQuery {
  /** Returns only entries with a higher number. Default: 0. */
  readonly after?: number;
  readonly kind?: AuditKind;
  /** Maximum number of entries. Default: 1,000. */
  readonly limit?: number;
}

/** An append-only log of decisions. Each entry contains the hash of the previous one. */
export interface AuditLog {
  /**
   * Appends an event. Resolves once the entry is durable. Entries keep the order of the calls. The write waits briefly
   * for another write to share its commit.
   */
  append(event: AuditEvent): Promise<void>;
  /** Returns entries, oldest first. */
  list(query?: AuditQuery): Promise<readonly AuditEntry[]>;
  /** Returns the last `count` entries, oldest first. */
  latest(count: number): Promise<readonly AuditEntry[]>;
  head(): Promise<AuditHead>;
}
