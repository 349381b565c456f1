import type { MessageEvent } from "./contract/events.ts";

/** Returns the key of a message's sender. It is unique across channels and survives name changes. */
export function getSpeakerKey({ channel, sender }: Pick<MessageEvent, "channel" | "sender">): string {
  return `${channel}:${sender.id}`;
}
