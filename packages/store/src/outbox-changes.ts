import { eq } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { Entries } from "./entries.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { type OutboxRecord, outbox } from "./schema/index.ts";
import type { Bodies } from "./types/common.ts";
import type { OutboxChange, OutboxStore } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly rows: OutboxRows<T>;
  readonly entries: Entries;
  readonly answers: Answers;
}

/** Creates the methods for operators, who may use another process. The methods reject rows that are being sent. */
export function createOutboxChanges<T extends Bodies>(
  { database, queue, now }: Context,
  { rows, entries, answers }: Parts<T>,
): Pick<OutboxStore<T>, "retry" | "drop"> {
  const { db } = database;
  const reopen = database.command((p: Bound<{ seq: number; at: number }>) =>
    db
      .update(outbox)
      .set({ state: "pending", nextAt: p("at"), expiresAt: null, error: null, updatedAt: p("at") })
      .where(eq(outbox.seq, p("seq"))),
  );
  const setDue = database.command((p: Bound<{ seq: number; at: number }>) =>
    db
      .update(outbox)
      .set({ nextAt: p("at"), updatedAt: p("at") })
      .where(eq(outbox.seq, p("seq"))),
  );
  const remove = database.command((p: Bound<{ seq: number }>) =>
    db.delete(outbox).where(eq(outbox.seq, p("seq"))),
  );

  function change(
    id: string,
    apply: (row: OutboxRecord) => void,
    isRefused: (row: OutboxRecord) => boolean = () => false,
  ): Promise<OutboxChange> {
    return queue.write((): OutboxChange => {
      const row = rows.byId(id);
      if (row === undefined) return { outcome: "unknown" };
      const { state } = row;
      if (state === "sending" || state === "sent" || isRefused(row)) return { outcome: "refused", state };
      apply(row);
      return { outcome: "applied", state };
    });
  }

  return {
    retry: (id) =>
      change(
        id,
        (row) => {
          if (row.state === "pending") setDue.run({ seq: row.seq, at: now() });
          else {
            reopen.run({ seq: row.seq, at: now() });
            answers.reopened(row);
          }
        },
        wasSent,
      ),

    drop: (id) =>
      change(id, (row) => {
        answers.undelivered(row, "dropped by an operator");
        entries.remove(row.entry);
        remove.run({ seq: row.seq });
      }),
  };
}

/** Returns true if all parts were sent and the platform later reported that they were not delivered. */
function wasSent({ state, partCount, receipts = [] }: OutboxRecord): boolean {
  return state === "dead" && partCount > 0 && receipts.length >= partCount;
}
