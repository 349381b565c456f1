import type { SessionSeed } from "@signalbox/store";
import type { PlacedMessage } from "./service-store.ts";

/**
 * Initial values of a session, taken from its first message.
 *
 * @param said the message's text, for the title
 */
export function sessionSeed(
  { sessionKey, agentId, stored: { event } }: PlacedMessage,
  said: string = event.text,
): SessionSeed {
  const { conversation, sender, channel, account, turn } = event;
  // Platforms know a private conversation by who is in it; a client of the gateway's own names each of its many.
  const isNamed = conversation.kind !== "direct" || turn?.agent !== undefined;
  const title = said.trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
  return {
    key: sessionKey,
    agentId,
    channel,
    account,
    peer: isNamed ? conversation.id : sender.id,
    kind: conversation.kind,
    ...(title === "" ? {} : { title }),
  };
}
