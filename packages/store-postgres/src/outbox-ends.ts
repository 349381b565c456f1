import type { OutboxState } from "@signalbox/store/types";
import { markUndelivered } from "./answers.ts";
import { updateOutboxRow } from "./outbox-rows.ts";
import type { OutboxRecord } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

type Outcome = Partial<Pick<OutboxRecord, "receipts" | "nextAt" | "error">>;

/** Records the outcome of a delivery attempt and releases the row. */
export function endAttempt(
  tx: Transaction,
  { seq }: OutboxRecord,
  state: OutboxState,
  at: number,
  changes: Outcome = {},
): void {
  const released = { leaseName: null, leaseEpoch: null, error: null, updatedAt: at };
  updateOutboxRow(tx, seq, { ...released, ...changes, state });
}

/** Ends a row that will not be sent, and updates the messages that it answers. */
export function endUndelivered(
  tx: Transaction,
  row: OutboxRecord,
  state: "dead" | "expired",
  why: string,
  at: number,
): void {
  endAttempt(tx, row, state, at, { error: why });
  markUndelivered(tx, row, why);
}
