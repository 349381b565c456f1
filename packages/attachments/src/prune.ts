import type { OutboundPart } from "@signalbox/channel";
import type { Blobs } from "./blobs.ts";
import { blobOf } from "./outgoing.ts";

/** A blob may be put before the row that needs it is committed. */
const KEEP_MS = 3_600_000;

/** The blobs that these parts refer to. */
export function blobsOf(parts: readonly OutboundPart[]): readonly string[] {
  return parts.flatMap((part) => (part.type === "media" ? (blobOf(part.ref) ?? []) : []));
}

/**
 * Removes blobs that are an hour old and that nothing needs any more; gives how many.
 * @param needed gives the blobs of everything that may yet be sent
 */
export async function pruneBlobs(
  blobs: Blobs,
  needed: () => Promise<ReadonlySet<string>>,
  now: number,
): Promise<number> {
  const before = now - KEEP_MS;
  const old = await blobs.olderThan(before);
  if (old.length === 0) return 0;
  const kept = await needed();
  return blobs.remove(
    old.filter((id) => !kept.has(id)),
    before,
  );
}
