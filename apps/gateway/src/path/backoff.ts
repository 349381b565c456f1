import type { OutboxId } from "@signalbox/store";

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/** Milliseconds before attempt `attempts + 1`: doubling from one second to five minutes, half of it by chance. */
export function backoffMs(attempts: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * random());
}

/** How long each reply waits after a failed send. Only what failed counts: a process that ended says nothing of the platform. */
export interface Backoff {
  /** Counts a failure; in milliseconds. */
  after(id: OutboxId): number;
  /** The reply has its end. */
  forget(id: OutboxId): void;
}

export function createBackoff(random: () => number): Backoff {
  const failures = new Map<OutboxId, number>();
  return {
    after(id) {
      const count = (failures.get(id) ?? 0) + 1;
      failures.set(id, count);
      return backoffMs(count, random);
    },
    forget: (id) => void failures.delete(id),
  };
}
