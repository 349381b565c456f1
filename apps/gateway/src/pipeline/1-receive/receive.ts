import {
  type Capabilities,
  type DeletedEvent,
  type DeliveryEvent,
  type EditedEvent,
  type InboundEvent,
  type LifecycleEvent,
  type MessageEvent,
  normalizeEvent,
  normalizeTurn,
} from "@signalbox/channel";
import { toMessageEvent } from "@signalbox/delivery";
import type { GatewayContext } from "../../context.ts";

/** An event of a channel in the gateway's terms. */
type Received =
  | ReceivedMessage
  | { readonly kind: "edited"; readonly event: EditedEvent }
  | { readonly kind: "deleted"; readonly event: DeletedEvent }
  | { readonly kind: "delivery"; readonly event: DeliveryEvent }
  | { readonly kind: "gap"; readonly event: LifecycleEvent }
  /** The event requires only an acknowledgment. */
  | { readonly kind: "none" };

/** A message in the same form for all channels. */
export interface ReceivedMessage {
  readonly kind: "message";
  readonly event: MessageEvent;
  /**
   * Kind of the platform's event. Clicks, native commands, and messages that an edit has addressed to the agent are
   * converted to plain messages.
   */
  readonly as: "message" | "command" | "action" | "edited";
  /** Absent if the account was removed from the configuration. */
  readonly capabilities: Capabilities | undefined;
}

/** Converts a channel's event to the form that is the same for all channels. */
export function receive(ctx: GatewayContext, event: InboundEvent): Received {
  const message = (given: MessageEvent, as: ReceivedMessage["as"]): ReceivedMessage => {
    const capabilities = ctx.getCapabilities(given.channel, given.account);
    return { kind: "message", event: withTurn(normalizeEvent(given), capabilities), as, capabilities };
  };
  switch (event.type) {
    case "message":
      return message(event, event.type);
    case "command":
    case "action": {
      const said = toMessageEvent(event);
      if (said !== undefined) return message(said, event.type);
      ctx.logger.debug({ channel: event.channel, type: event.type }, "a click on an unknown button");
      return { kind: "none" };
    }
    case "edited":
      return { kind: "edited", event: normalizeEvent(event) };
    case "deleted":
      return { kind: "deleted", event };
    case "delivery":
      return { kind: "delivery", event };
    case "reaction":
    case "member":
    case "lifecycle":
      if (event.type === "lifecycle" && event.what === "gap") return { kind: "gap", event };
      ctx.logger.debug({ channel: event.channel, type: event.type }, "an event without a handler");
      return { kind: "none" };
  }
}

/** Removes the client options that a channel may not set. Only the gateway's own clients may set all of them. */
function withTurn(event: MessageEvent, capabilities: Capabilities | undefined): MessageEvent {
  const { turn, ...plain } = event;
  if (turn === undefined) return plain;
  if (capabilities?.authenticatedByGateway === true) return { ...plain, turn: normalizeTurn(turn) };
  return turn.alone === true ? { ...plain, turn: { alone: true } } : plain;
}
