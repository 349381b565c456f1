import { type Blobs, getBlobIds, pruneBlobs } from "@signalbox/attachments";
import type { Bodies, SqliteStore } from "@signalbox/store";

/** Bodies whose replies have parts, which reference their attachments. */
export interface BodiesWithParts extends Bodies {
  readonly outbound: { readonly parts: Parameters<typeof getBlobIds>[0] };
}

type OutboxOf = Pick<SqliteStore<BodiesWithParts>, "outbox">;

/** Returns the ids of the attachments of unsent replies, including given-up ones, which an operator may retry. */
export async function neededBlobs(store: OutboxOf): Promise<ReadonlySet<string>> {
  const states = ["pending", "sending", "dead", "uncertain", "expired"] as const;
  const rows = await store.outbox.list({ states, limit: Number.MAX_SAFE_INTEGER });
  return new Set(rows.flatMap(({ payload }) => getBlobIds(payload.parts)));
}

/** Removes attachments that no unsent reply needs, and returns their number. */
export function pruneSentBlobs(store: OutboxOf, blobs: Blobs, now: () => number): Promise<number> {
  return pruneBlobs(blobs, () => neededBlobs(store), now());
}
