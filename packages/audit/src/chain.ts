/** What an entry is about. */
export const AUDIT_KINDS = ["approval", "configuration", "pairing", "sign-in", "token", "tool"] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Something that was decided. */
export interface AuditEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: AuditKind;
  /** What was done, in a word: `allowed`, `revoked`, `signed-in`. */
  readonly action: string;
  /** Who decided it. */
  readonly actor: string;
  /** What it was decided about. */
  readonly subject: string;
  /** More about it, without secrets. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** An entry with its place in the chain. */
export interface AuditRecord extends AuditEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  /** Over the entry, its number and the hash of the record before it. */
  readonly hash: string;
}

/** The end of a chain. */
export interface AuditHead {
  /** How many records there are. */
  readonly count: number;
  /** Of the last of them. */
  readonly hash: string;
}

/** Of a chain without records. */
export const EMPTY_HEAD: AuditHead = { count: 0, hash: "" };

/** The hash of a record behind `head`. */
export function linkHash(head: AuditHead, entry: AuditEntry): string {
  const { at, kind, action, actor, subject, details = {} } = entry;
  const sorted = Object.entries(details).sort(([a], [b]) => (a < b ? -1 : 1));
  const record = [head.hash, head.count + 1, at, kind, action, actor, subject, sorted];
  // Loaded when first used: it would be a good part of the import of this package, and of a store's that uses it.
  return process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify(record, asKept));
}

/** Half of a character is no text that a file keeps: a record with one has to be the same when it is read again. */
function asKept(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
