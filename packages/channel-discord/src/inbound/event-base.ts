import {
  type Conversation,
  type EventBase,
  type EventFacts,
  eventBase,
  type Sender,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";

/** Facts that the event itself does not contain. */
export interface DiscordFacts extends EventFacts {
  readonly conversation: Conversation;
  /** The same for every redelivery. Used for events without an id. */
  readonly deliveryId: string;
  /** The platform's payload, used as `raw`. */
  readonly payload: unknown;
}

/** Creates the fields that all events share. */
export function createBase(facts: DiscordFacts, sender: Sender): EventBase {
  const { conversation, deliveryId, payload } = facts;
  return eventBase("discord", facts, {
    eventId: deliveryId,
    conversation,
    address: addressCodec.encode({ channelId: conversation.id }),
    sender,
    payload,
  });
}
