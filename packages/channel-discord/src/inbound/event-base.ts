import type { Conversation, InboundEvent, Json, Sender } from "@signalbox/channel";
import { addressCodec } from "../address.ts";

/** Information that the event itself does not contain. */
export interface EventFacts {
  readonly account: string;
  readonly botId: string;
  readonly conversation: Conversation;
  /** The same at every redelivery. Used by events without an id of their own. */
  readonly deliveryId: string;
  /** Milliseconds since the epoch, for events without a time. */
  readonly now: number;
  /** The payload, if the host asked for it. */
  readonly raw?: Json;
}

type Base = Omit<InboundEvent, "type"> & { readonly addressed: "dm" | "none" };

/** Creates the fields that all events share. */
export function createBase(
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
