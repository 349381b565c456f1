import { type AuditHead, type AuditRecord, EMPTY_HEAD, linkHash } from "./chain.ts";
import type { AuditLog } from "./log.ts";

/** Keeps the chain for as long as the process lives. */
export function createMemoryAudit(): AuditLog {
  const records: AuditRecord[] = [];
  let head: AuditHead = EMPTY_HEAD;
  return {
    async append(entry) {
      head = { count: head.count + 1, hash: linkHash(head, entry) };
      records.push({ ...entry, seq: head.count, hash: head.hash });
    },
    list: async ({ after = 0, kind, limit = 1_000 } = {}) =>
      records.filter((record) => record.seq > after && (kind ?? record.kind) === record.kind).slice(0, limit),
    latest: async (count) => records.slice(-count),
    head: async () => head,
  };
}
