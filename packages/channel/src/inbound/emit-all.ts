import type { ChannelContext } from "../contract/definition.ts";
import type { InboundEvent } from "../contract/events.ts";
import type { HandleResult } from "./webhook.ts";

/**
 * Emits the events of one delivery in order. Stops at a rejected event, so that the platform redelivers all of them.
 *
 * @param onEmitted called after each event that was not rejected
 * @returns `accepted` if any event was new, `ignored` if there were no events
 */
export async function emitAll(
  context: Pick<ChannelContext, "emit">,
  events: readonly InboundEvent[],
  onEmitted: (event: InboundEvent) => Promise<void> = async () => {},
): Promise<HandleResult> {
  let handled: HandleResult = "ignored";
  for (const event of events) {
    const result = await context.emit(event);
    if (result === "rejected") return result;
    if (handled !== "accepted") handled = result;
    await onEmitted(event);
  }
  return handled;
}
