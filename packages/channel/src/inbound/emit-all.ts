import type { ChannelContext } from "../contract/definition.ts";
import type { InboundEvent } from "../contract/events.ts";
import type { Handled } from "./webhook.ts";

/**
 * Hands over the events that came with one delivery, in order. A rejected one ends it, so that the delivery comes
 * again;
 * `taken` is told each of the others.
 *
 * @returns `accepted` where one was new, `ignored` where there is none
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
