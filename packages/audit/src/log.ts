import type { AuditEntry, AuditHead, AuditKind, AuditRecord } from "./chain.ts";

export interface AuditQuery {
  /** Only what comes behind the record of this number. Default 0. */
  readonly after?: number;
  readonly kind?: AuditKind;
  /** Default 1,000. */
  readonly limit?: number;
}

/** Where entries are kept. Nothing in it is ever changed or removed. */
export interface AuditLog {
  /** Links an entry to the last one. Resolves once it is durable; entries are in the order of the calls. */
  append(entry: AuditEntry): Promise<void>;
  /** Oldest first. */
  list(query?: AuditQuery): Promise<readonly AuditRecord[]>;
  /** The last `count` records, oldest first. */
  latest(count: number): Promise<readonly AuditRecord[]>;
  head(): Promise<AuditHead>;
}
