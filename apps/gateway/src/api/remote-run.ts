import { withTimeout } from "@signalbox/lanes";
import type { Outcome } from "@signalbox/server";
import type { PlatformMessage } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";
import { waitForOutcome } from "./wait-for-outcome.ts";

/** Maximum delay of the events of a run behind its outcome in the store, in milliseconds. */
const MAX_DELAY_MS = 2_000;

/**
 * Waits for the outcome of a message that another node answers. Viewers on this node receive the events of its run
 * first.
 */
export async function waitForRemoteRun(
  ctx: GatewayContext,
  message: PlatformMessage,
  sessionKey: string,
): Promise<Outcome> {
  const { live } = ctx;
  const shown = Promise.withResolvers<void>();
  const stop = live.observe((event) => {
    if (event.type === "run.end" && event.answers?.includes(message.messageId) === true) shown.resolve();
  });
  try {
    const outcome = await waitForOutcome(ctx, message);
    if (live.watched(sessionKey)) await withTimeout(MAX_DELAY_MS, shown.promise);
    return outcome;
  } finally {
    stop();
  }
}
