import type { OutboundPart } from "@signalbox/channel";
import type { Blobs } from "./blobs.ts";
import { getBlobId } from "./outgoing.ts";

/** Minimum age in milliseconds, because a blob is put before the message that refers to it is committed. */
const MIN_AGE_MS = 3_600_000;

/** Returns the ids of the blobs that parts of a message refer to. */
export function getBlobIds(parts: readonly OutboundPart[]): readonly string[] {
  return parts.flatMap((part) => (part.type === "media" ? (getBlobId(part.ref) ?? []) : []));
}

/**
 * Removes blobs that are at least an hour old and no longer needed.
 *
 * @param needed returns the ids of blobs that may still be sent
 * @returns the number of removed blobs
 */
export async function pruneBlobs(
  blobs: Blobs,
  needed: () => Promise<ReadonlySet<string>>,
  now: number,
): Promise<number> {
  const before = now - MIN_AGE_MS;
  const old = await blobs.olderThan(before);
  if (old.length === 0) return 0;
  const kept = await needed();
  return blobs.remove(
    old.filter((id) => !kept.has(id)),
    before,
  );
}
