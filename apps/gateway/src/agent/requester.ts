import { getSpeakerKey, type MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import type { Requester } from "@signalbox/tools";

/** Returns the person and the conversation that an approval request names. */
export function getRequester({
  event,
  role,
}: {
  readonly event: MessageEvent;
  readonly role: Role;
}): Requester {
  const { channel, conversation, sender } = event;
  return {
    id: getSpeakerKey(event),
    name: sender.name,
    isAutomatic: role === "system",
    channel,
    conversation: { kind: conversation.kind, id: conversation.id, title: conversation.subject },
  };
}
