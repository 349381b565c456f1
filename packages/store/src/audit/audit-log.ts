import { and, asc, desc, eq, gt } from "drizzle-orm";
import type { Context } from "../context.ts";
import type { Bound } from "../database.ts";
import { decode } from "../json.ts";
import { auditHead, auditRecord } from "../schema/index.ts";
import type { AuditEntry, AuditKind, AuditLog } from "../types/audit.ts";
import { EMPTY_HEAD, linkHash } from "./chain.ts";

function toEntry({ details, ...row }: typeof auditRecord.$inferSelect): AuditEntry {
  return { ...row, ...(details === null ? {} : { details: decode(details, "audit_record", row.seq) }) };
}

/** Creates the audit log. Each transaction reads the head again, because another process may have appended an entry. */
export function createAuditLog({ database, queue }: Context): AuditLog {
  const { db } = database;
  const head = database.query(() =>
    db.select({ count: auditHead.count, hash: auditHead.hash }).from(auditHead).where(eq(auditHead.one, 1)),
  );
  const putHead = database.replace(auditHead, [auditHead.one]);
  const insert = database.insert(auditRecord);
  const after = database.query((p: Bound<{ after: number; limit: number }>) =>
    db
      .select()
      .from(auditRecord)
      .where(gt(auditRecord.seq, p("after")))
      .orderBy(asc(auditRecord.seq))
      .limit(p("limit")),
  );
  const afterOfKind = database.query((p: Bound<{ after: number; limit: number; kind: AuditKind }>) =>
    db
      .select()
      .from(auditRecord)
      .where(and(gt(auditRecord.seq, p("after")), eq(auditRecord.kind, p("kind"))))
      .orderBy(asc(auditRecord.seq))
      .limit(p("limit")),
  );
  const latest = database.query((p: Bound<{ limit: number }>) =>
    db.select().from(auditRecord).orderBy(desc(auditRecord.seq)).limit(p("limit")),
  );

  return {
    append: (event) =>
      queue.write(() => {
        const before = head.get() ?? EMPTY_HEAD;
        const hash = linkHash(before, event);
        const seq = before.count + 1;
        const details = event.details === undefined ? null : JSON.stringify(event.details);
        insert.run({ ...event, details, seq, hash });
        putHead.run({ one: 1, count: seq, hash });
      }, "patient"),
    list: (query = {}) =>
      queue.read(() => {
        const { after: from = 0, kind, limit = 1_000 } = query;
        const rows =
          kind === undefined
            ? after.all({ after: from, limit })
            : afterOfKind.all({ after: from, limit, kind });
        return rows.map(toEntry);
      }),
    latest: (count) => queue.read(() => latest.all({ limit: count }).map(toEntry).toReversed()),
    head: () => queue.read(() => head.get() ?? EMPTY_HEAD),
  };
}
