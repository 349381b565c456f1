import { type Blobs, getBlobIds, pruneBlobs } from "@signalbox/attachments";
import type { Bodies, SqliteStore } from "@signalbox/store";

/** Replies of a home name their attachments by their parts. */
export interface BodiesWithParts extends Bodies {
  readonly outbound: { readonly parts: Parameters<typeof getBlobIds>[0] };
}

type OutboxOf = Pick<SqliteStore<BodiesWithParts>, "outbox">;

/** The blobs of unsent replies, even of given-up ones: they may still be sent. */
export async function neededBlobs(store: OutboxOf): Promise<ReadonlySet<string>> {
  const states = ["pending", "sending", "dead", "uncertain", "expired"] as const;
  const rows = await store.outbox.list({ states, limit: Number.MAX_SAFE_INTEGER });
  return new Set(rows.flatMap(({ payload }) => getBlobIds(payload.parts)));
}

/** Removes the others. Gives how many. */
export function pruneSentBlobs(store: OutboxOf, blobs: Blobs, now: () => number): Promise<number> {
  return pruneBlobs(blobs, () => neededBlobs(store), now());
}
