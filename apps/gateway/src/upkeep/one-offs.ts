import { ONCE } from "@signalbox/server";
import type { Lease } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import { messageOf } from "../errors.ts";
import type { GatewayStore } from "../store.ts";

/** How long a conversation of one request is kept, in milliseconds, and how many there may be. */
const ONCE_MS = 60 * 60_000;
const ONCE_KEPT = 1_000;
/** Sessions looked at, and removed, at once. */
const PAGE = 200;

/** Removes the conversations of clients that keep theirs themselves: nobody comes back to them. */
export async function pruneOneOffs(
  store: GatewayStore,
  lease: Lease,
  now: () => number,
  logger: Logger,
): Promise<void> {
  try {
    const oldest = now() - ONCE_MS;
    let kept = 0;
    let before: number | undefined;
    for (;;) {
      const page = await store.sessions.list({
        channel: "api",
        limit: PAGE,
        ...(before === undefined ? {} : { before }),
      });
      const gone = page.filter(
        ({ peer, updatedAt, activeRun }) =>
          peer.startsWith(ONCE) && activeRun === undefined && (++kept > ONCE_KEPT || updatedAt < oldest),
      );
      await Promise.all(gone.map(({ key }) => store.sessions.remove(key, lease)));
      const last = page.at(-1);
      if (page.length < PAGE || last === undefined) return;
      // What shares its last moment with the page is looked at next time.
      before = last.updatedAt;
    }
  } catch (error) {
    logger.warn({ err: messageOf(error) }, "conversations of one request could not be removed");
  }
}
