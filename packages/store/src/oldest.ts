import type { Millis } from "./types/common.ts";
import type { StoreStats } from "./types/maintenance.ts";

type Counted = readonly { readonly oldestAt: Millis | null }[];

/** Returns the age of unfinished work, from the oldest row of each state. */
export function getOldest(
  inbox: Counted,
  outbox: Counted,
): Pick<StoreStats, "oldestInboxAt" | "oldestOutboxAt"> {
  const oldestInboxAt = oldestOf(inbox);
  const oldestOutboxAt = oldestOf(outbox);
  return {
    oldestInboxAt,
    oldestOutboxAt,
  };
}

function oldestOf(rows: Counted): Millis | undefined {
  const times = rows.flatMap(({ oldestAt }) => oldestAt ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
