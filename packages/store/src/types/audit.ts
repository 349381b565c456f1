import type { Millis } from "./common.ts";

/** Something that was decided. */
export interface AuditEntry {
  readonly at: Millis;
  readonly kind: "approval" | "configuration" | "pairing" | "sign-in" | "token" | "tool";
  readonly action: string;
  readonly actor: string;
  readonly subject: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** An entry with its place in the chain. */
export interface AuditRecord extends AuditEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  /** The hash of the entry, its number and the hash of the record before it. */
  readonly hash: string;
}

/** The record of decisions, each entry linked to the one before it. Nothing in it is ever changed or removed. */
export interface AuditStore {
  /** Shares the next commit that is made anyway, if there is one soon. */
  append(entry: AuditEntry): Promise<void>;
  /** Oldest first. Default limit 1,000. */
  list(query?: {
    /** Only records after this number. */
    readonly after?: number;
    readonly kind?: AuditEntry["kind"];
    readonly limit?: number;
  }): Promise<readonly AuditRecord[]>;
  /** The last ones, oldest first. */
  latest(count: number): Promise<readonly AuditRecord[]>;
  head(): Promise<{ readonly count: number; readonly hash: string }>;
}
