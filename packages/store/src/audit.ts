import { EMPTY_HEAD, linkHash } from "@signalbox/audit";
import { and, asc, desc, eq, gt } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { decode } from "./json.ts";
import { auditHead, auditRecord } from "./schema/index.ts";
import type { AuditRecord, AuditStore } from "./types/audit.ts";

function recordOf({ details, ...row }: typeof auditRecord.$inferSelect): AuditRecord {
  return { ...row, ...(details === null ? {} : { details: decode(details, "audit_record", row.seq) }) };
}

/** The chain of what was decided. The head is read in each transaction: another process may have appended to it. */
export function createAuditStore({ database, queue }: Context): AuditStore {
  const { db } = database;
  const end = database.query(() =>
    db.select({ count: auditHead.count, hash: auditHead.hash }).from(auditHead).where(eq(auditHead.one, 1)),
  );
  const putEnd = database.replace(auditHead, [auditHead.one]);
  const insert = database.insert(auditRecord);
  const behind = database.query((p: Bound<{ after: number; limit: number }>) =>
    db
      .select()
      .from(auditRecord)
      .where(gt(auditRecord.seq, p.after))
      .orderBy(asc(auditRecord.seq))
      .limit(p.limit),
  );
  const ofKind = database.query((p: Bound<{ after: number; limit: number; kind: AuditRecord["kind"] }>) =>
    db
      .select()
      .from(auditRecord)
      .where(and(gt(auditRecord.seq, p.after), eq(auditRecord.kind, p.kind)))
      .orderBy(asc(auditRecord.seq))
      .limit(p.limit),
  );
  const fromEnd = database.query((p: Bound<{ limit: number }>) =>
    db.select().from(auditRecord).orderBy(desc(auditRecord.seq)).limit(p.limit),
  );

  return {
    append: (entry) =>
      queue.write(() => {
        const head = end.get() ?? EMPTY_HEAD;
        const hash = linkHash(head, entry);
        const count = head.count + 1;
        const details = entry.details === undefined ? null : JSON.stringify(entry.details);
        insert.run({ ...entry, details, seq: count, hash });
        putEnd.run({ one: 1, count, hash });
      }, "patient"),
    list: ({ after = 0, kind, limit = 1_000 } = {}) =>
      queue.read(() => {
        const rows = kind === undefined ? behind.all({ after, limit }) : ofKind.all({ after, limit, kind });
        return rows.map(recordOf);
      }),
    latest: (count) => queue.read(() => fromEnd.all({ limit: count }).map(recordOf).toReversed()),
    head: () => queue.read(() => end.get() ?? EMPTY_HEAD),
  };
}
