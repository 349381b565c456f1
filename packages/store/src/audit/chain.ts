import { hash } from "node:crypto";
import type { AuditEvent, AuditHead, AuditKind } from "../types/audit.ts";

/** All kinds of audit events. */
export const AUDIT_KINDS = [
  "approval",
  "configuration",
  "operation",
  "pairing",
  "sign_in",
  "token",
  "tool",
] as const satisfies readonly AuditKind[];

/** The head of an empty chain. */
export const EMPTY_HEAD: AuditHead = { count: 0, hash: "" };

/** Returns the hash of the entry that follows `head`. */
export function linkHash(head: AuditHead, event: AuditEvent): string {
  const { at, kind, action, actor, subject, details = {} } = event;
  const sorted = Object.entries(details).sort(([a], [b]) => (a < b ? -1 : 1));
  const entry = [head.hash, head.count + 1, at, kind, action, actor, subject, sorted];
  return hash("sha256", JSON.stringify(entry, wellFormed));
}

/**
 * Replaces lone surrogates, as SQLite does when it stores a string as UTF-8. Otherwise the hash of the stored entry
 * would differ from the hash computed here.
 */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
