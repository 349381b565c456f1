import { rowOf } from "./ids.ts";
import type { InboxId } from "./types/common.ts";

/** Prefix of the reason that is stored with a message whose reply was not delivered. */
export const UNDELIVERED_MARK = "undelivered: ";
/** Prefix of the reason that is stored with an expired row. */
export const EXPIRED_REASON = "time to live passed";

export function isMarked(reason: string | null): boolean {
  return reason?.startsWith(UNDELIVERED_MARK) === true;
}

/** Returns row numbers as the column `answers` stores them. Those of messages that a notice reports are negative. */
export function answeredRows(
  answers: readonly InboxId[] = [],
  reports: readonly InboxId[] = [],
): readonly number[] {
  const rowsOf = (ids: readonly InboxId[]) => ids.flatMap((id) => rowOf(id) ?? []);
  return [...rowsOf(answers), ...rowsOf(reports).map((seq) => -seq)];
}
