import type { ChannelContext } from "../contract/definition.ts";
import type { Conversation, InboundEvent, Sender } from "../contract/events.ts";
import { toJson } from "./payload.ts";

/** Facts about the account that every event contains. */
export interface EventFacts {
  readonly account: string;
  /** The platform's id of the bot. Event ids are unique within it. */
  readonly botId: string;
  /** The time for events without one, in milliseconds since the epoch. */
  readonly now: number;
  /** True if the platform's payload should be added as `raw`. */
  readonly raw: boolean;
}

/** Returns the facts for an event that has just arrived. */
export function eventFacts(
  { account, clock, raw = false }: Pick<ChannelContext, "account" | "clock" | "raw">,
  botId: string,
): EventFacts {
  return { account, botId, now: clock.now(), raw };
}

/** The fields that differ between events. */
export interface EventParts {
  /** The same for every redelivery. */
  readonly eventId: string;
  readonly conversation: Conversation;
  /** The encoded address for replies. */
  readonly address: string;
  readonly sender: Sender;
  /** Milliseconds since the epoch, if the event contains a time. */
  readonly timestamp?: number | undefined;
  /** The platform's payload, used as `raw`. */
  readonly payload?: unknown;
}

/** The fields of an event without its type. */
export type EventBase = Omit<InboundEvent, "type"> & { readonly addressed: "dm" | "none" };

/**
 * Creates the fields that all events have. In a group, `addressed` is `none`. Messages that mention the bot overwrite
 * it.
 *
 * @param channel the id of the channel
 */
export function eventBase(
  channel: string,
  { account, botId, now, raw }: Omit<EventFacts, "botId"> & Partial<Pick<EventFacts, "botId">>,
  { eventId, conversation, address, sender, timestamp = now, payload }: EventParts,
): EventBase {
  return {
    eventId,
    channel,
    account,
    botId,
    conversation,
    address,
    sender,
    addressed: conversation.kind === "direct" ? "dm" : "none",
    timestamp,
    raw: raw && payload !== undefined ? (toJson(payload) ?? null) : undefined,
  };
}
