import type { SessionSeed } from "@signalbox/store";
import type { PlacedMessage } from "./service-store.ts";

/**
 * Returns the initial values of a session, based on its first message.
 *
 * @param said the message's text, for the title
 */
export function sessionSeed(
  { sessionKey, agentId, stored: { event } }: PlacedMessage,
  said: string = event.text,
): SessionSeed {
  const { conversation, sender, channel, account, turn } = event;
  // A platform's direct chat is identified by its peer. The gateway's own clients name each of their conversations.
  const isNamed = conversation.kind !== "direct" || turn?.agent !== undefined;
  const title = said.trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
  return {
    key: sessionKey,
    agentId,
    channel,
    account,
    peer: isNamed ? conversation.id : sender.id,
    kind: conversation.kind,
    title: title === "" ? undefined : title,
  };
}
