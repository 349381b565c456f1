import { type CrashCounts, createCrashCounts } from "@signalbox/lanes";
import type { GatewayStore } from "../../store.ts";

/** Starts of one run after which its message is given up. */
export const POISON_ATTEMPTS = 3;

const NAMESPACE = "media-attempt";
/** No message waits for so long, in milliseconds; what a deleted one left behind goes with it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * How many processes took the attachments of a message and died before its run began. From then on the run itself counts
 * its starts.
 */
export function createAttachmentCrashes({ kv }: Pick<GatewayStore, "kv">): CrashCounts {
  return createCrashCounts({
    async read(id) {
      const count = await kv.get(NAMESPACE, id);
      return typeof count === "number" ? count : 0;
    },
    write: (id, count) => kv.set(NAMESPACE, id, count, KEPT_MS),
    async remove(id) {
      await kv.delete(NAMESPACE, id);
    },
  });
}
