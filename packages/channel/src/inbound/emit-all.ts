import type { ChannelContext } from "../contract/definition.ts";
import type { InboundEvent } from "../contract/events.ts";
import type { Handled } from "./webhook.ts";

/**
 * Hands over the events of one delivery, in order. It stops at a rejected one, so that the delivery comes again;
 * `taken` gets each of the others.
 * @returns `accepted` if any was new, `ignored` if there was none
 */
export async function emitAll(
  context: Pick<ChannelContext, "emit">,
  events: readonly InboundEvent[],
  taken: (event: InboundEvent) => Promise<void> = async () => {},
): Promise<Handled> {
  let handled: Handled = "ignored";
  for (const event of events) {
    const result = await context.emit(event);
    if (result === "rejected") return result;
    if (handled !== "accepted") handled = result;
    await taken(event);
  }
  return handled;
}
