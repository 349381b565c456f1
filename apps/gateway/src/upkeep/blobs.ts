import { type Blobs, blobsOf, pruneBlobs } from "@signalbox/attachments";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { GatewayStore } from "../store.ts";

/** The blobs of replies that have not gone out, also of those that were given up: they may be sent after all. */
export async function neededBlobs(store: GatewayStore): Promise<ReadonlySet<string>> {
  const states = ["pending", "sending", "dead", "uncertain", "expired"] as const;
  const rows = await store.outbox.list({ states, limit: Number.MAX_SAFE_INTEGER });
  return new Set(rows.flatMap(({ payload }) => blobsOf(payload.parts)));
}

/** Removes the others. Never rejects. */
export async function pruneSentBlobs(
  store: GatewayStore,
  blobs: Blobs,
  logger: Logger,
  now: () => number,
): Promise<void> {
  try {
    const removed = await pruneBlobs(blobs, () => neededBlobs(store), now());
    if (removed > 0) logger.debug({ removed }, "attachments that were sent were removed");
  } catch (error) {
    logger.warn({ err: messageOf(error) }, "old attachments could not be removed");
  }
}
