import type { MessageEvent } from "./contract/events.ts";

/** The key of a message's sender. Unique across channels, and the same after a change of name. */
export function getSpeakerKey({ channel, sender }: Pick<MessageEvent, "channel" | "sender">): string {
  return `${channel}:${sender.id}`;
}
