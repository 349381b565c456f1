import type { Bodies, OutboxChange, OutboxStore } from "@signalbox/store/types";
import { eq } from "drizzle-orm";
import { lockAwaiting, markReopened, markUndelivered } from "./answers.ts";
import type { Context } from "./context.ts";
import { lockOutboxRow, updateOutboxRow } from "./outbox-rows.ts";
import { type OutboxRecord, outbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Creates the methods for operators, who may use another process. The methods reject rows that are being sent. */
export function createOutboxChanges<T extends Bodies>({
  database,
}: Context): Pick<OutboxStore<T>, "retry" | "drop"> {
  function change(
    id: string,
    apply: (tx: Transaction, row: OutboxRecord, at: number) => Promise<void>,
    isRefused: (row: OutboxRecord) => boolean = () => false,
  ): Promise<OutboxChange> {
    return database.write(async (tx): Promise<OutboxChange> => {
      const [row, at] = await Promise.all([lockOutboxRow(tx, id), tx.now]);
      if (row === undefined) return { outcome: "unknown" };
      const { state } = row;
      if (state === "sending" || state === "sent" || isRefused(row)) return { outcome: "refused", state };
      await apply(tx, row, at);
      return { outcome: "applied", state };
    });
  }

  return {
    retry: (id) =>
      change(
        id,
        async (tx, row, at) => {
          const due = { nextAt: at, updatedAt: at };
          if (row.state === "pending") return updateOutboxRow(tx, row.seq, due);
          updateOutboxRow(tx, row.seq, { ...due, state: "pending", expiresAt: null, error: null });
          markReopened(tx, row);
        },
        wasSent,
      ),

    drop: (id) =>
      change(id, async (tx, row) => {
        await lockAwaiting(tx, row);
        markUndelivered(tx, row, "dropped by an operator");
        tx.send(tx.db.delete(outbox).where(eq(outbox.seq, row.seq)));
      }),
  };
}

/** Returns true if all parts were sent and the platform later reported that they were not delivered. */
function wasSent({ state, partCount, receipts }: OutboxRecord): boolean {
  return state === "dead" && partCount > 0 && receipts.length >= partCount;
}
