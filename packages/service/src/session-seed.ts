import type { SessionSeed } from "@signalbox/store";
import type { PlacedMessage } from "./service-store.ts";

/**
 * What a session is made of when its first message comes.
 *
 * @param said what the message says to the agent, for the title
 */
export function sessionSeed(
  { sessionKey, agentId, stored: { event } }: PlacedMessage,
  said: string = event.text,
): SessionSeed {
  const { conversation, sender, channel, account } = event;
  const title = said.trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
  return {
    key: sessionKey,
    agentId,
    channel,
    account,
    peer: conversation.kind === "direct" ? sender.id : conversation.id,
    kind: conversation.kind,
    ...(title === "" ? {} : { title }),
  };
}
