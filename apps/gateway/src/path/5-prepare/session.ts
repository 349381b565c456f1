import type { Agent } from "@signalbox/setup";
import type { SessionSeed } from "@signalbox/store";
import { type QueuedMessage, spokenText } from "../4-queue/message.ts";

/** What a session is made of when its first message comes. */
export function seedOf(message: QueuedMessage, agent: Pick<Agent, "id">): SessionSeed {
  const { event } = message.stored;
  const { conversation, sender } = event;
  const peer = conversation.kind === "direct" ? sender.id : conversation.id;
  const title = spokenText(message).trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
  return {
    key: message.sessionKey,
    agentId: agent.id,
    channel: event.channel,
    account: event.account,
    peer,
    kind: conversation.kind,
    ...(title === "" ? {} : { title }),
  };
}
