import { reasonOf } from "@signalbox/agent-core";
import type { Lease, SessionPosition, SessionStore } from "@signalbox/store";
import type { HomeLogger } from "../logger.ts";

/** Retention of a conversation with a single request, in milliseconds, and the maximum number of them. */
const ONE_OFF_RETENTION_MS = 60 * 60_000;
const MAX_ONE_OFFS = 1_000;
/** Sessions per page. */
const PAGE_SIZE = 200;

export interface OneOffs {
  readonly sessions: Pick<SessionStore, "list" | "remove">;
  readonly lease: Lease;
  readonly channel: string;
  /** Returns true for a conversation with a single request. */
  readonly isOneOff: (conversation: { readonly channel: string; readonly peer: string }) => boolean;
  readonly now: () => number;
  readonly logger: Pick<HomeLogger, "warn">;
}

/** Removes conversations of clients that send their own history: these conversations are never continued. */
export async function pruneOneOffs(options: OneOffs): Promise<void> {
  const { sessions, lease, channel, isOneOff, now, logger } = options;
  try {
    const oldest = now() - ONE_OFF_RETENTION_MS;
    let kept = 0;
    let last: SessionPosition | undefined;
    for (;;) {
      const page = await sessions.list({
        channel,
        limit: PAGE_SIZE,
        behind: last,
      });
      const gone = page.filter(
        (session) =>
          isOneOff(session) &&
          session.activeRun === undefined &&
          (++kept > MAX_ONE_OFFS || session.updatedAt < oldest),
      );
      await Promise.all(gone.map(({ key }) => sessions.remove(key, lease)));
      last = page.at(-1);
      if (page.length < PAGE_SIZE) return;
    }
  } catch (error) {
    logger.warn({ err: reasonOf(error) }, "conversations of one request could not be removed");
  }
}
