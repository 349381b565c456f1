import type { Conversation, InboundEvent, Json, Sender } from "@signalbox/channel";
import { addressCodec } from "../address.ts";

/** What an event's own payload does not say. */
export interface EventFacts {
  readonly account: string;
  readonly botId: string;
  readonly conversation: Conversation;
  /** The same at every redelivery, for events that carry no id of their own. */
  readonly deliveryId: string;
  /** Milliseconds since the epoch, for events without a time. */
  readonly now: number;
  /** The payload, where the host asks for it. */
  readonly raw?: Json;
}

type Base = Omit<InboundEvent, "type"> & { readonly addressed: "dm" | "none" };

/** What all events have. */
export function baseOf(
  { account, botId, conversation, deliveryId, now, raw }: EventFacts,
  sender: Sender,
): Base {
  return {
    eventId: deliveryId,
    channel: "discord",
    account,
    botId,
    conversation,
    address: addressCodec.encode({ channelId: conversation.id }),
    sender,
    addressed: conversation.kind === "direct" ? "dm" : "none",
    timestamp: now,
    ...(raw === undefined ? {} : { raw }),
  };
}
