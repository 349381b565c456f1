import type { MessageEvent } from "./contract/events.ts";

/** Who wrote a message, by ids that never change and across channels. */
export function speakerOf({ channel, sender }: Pick<MessageEvent, "channel" | "sender">): string {
  return `${channel}:${sender.id}`;
}
