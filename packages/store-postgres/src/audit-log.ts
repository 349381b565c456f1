import { decode, EMPTY_HEAD, linkHash } from "@signalbox/store/backend";
import type { AuditEntry, AuditEvent, AuditLog } from "@signalbox/store/types";
import { and, asc, desc, eq, gt } from "drizzle-orm";
import type { Context } from "./context.ts";
import { auditHead, auditRecord } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

function toEntry({ details, ...row }: typeof auditRecord.$inferSelect): AuditEntry {
  return { ...row, ...(details === null ? {} : { details: decode(details, "audit_record", row.seq) }) };
}

const HEAD = { count: auditHead.count, hash: auditHead.hash };

/** Creates the audit log. The lock on the head orders the entries of all processes. */
export function createAuditLog({ database }: Context): AuditLog {
  return {
    append: (event) => database.write((tx) => append(tx, event), "audit"),
    list: ({ after = 0, kind, limit = 1_000 } = {}) =>
      database.query(async (db) => {
        const ofKind = kind === undefined ? undefined : eq(auditRecord.kind, kind);
        const rows = await db
          .select()
          .from(auditRecord)
          .where(and(gt(auditRecord.seq, after), ofKind))
          .orderBy(asc(auditRecord.seq))
          .limit(limit);
        return rows.map(toEntry);
      }),
    latest: (count) =>
      database.query(async (db) => {
        const rows = await db.select().from(auditRecord).orderBy(desc(auditRecord.seq)).limit(count);
        return rows.map(toEntry).toReversed();
      }),
    head: () => database.query(async (db) => (await db.select(HEAD).from(auditHead))[0] ?? EMPTY_HEAD),
  };
}

async function append({ db, send }: Transaction, event: AuditEvent): Promise<void> {
  send(
    db
      .insert(auditHead)
      .values({ one: 1, ...EMPTY_HEAD })
      .onConflictDoNothing(),
  );
  const [before = EMPTY_HEAD] = await db.select(HEAD).from(auditHead).for("update");
  const head = { count: before.count + 1, hash: linkHash(before, event) };
  const details = event.details === undefined ? null : JSON.stringify(event.details);
  send(db.insert(auditRecord).values({ ...event, details, seq: head.count, hash: head.hash }));
  send(db.update(auditHead).set(head));
}
