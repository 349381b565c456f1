import {
  type ChannelContext,
  eventFacts,
  type InboundEvent,
  parsePayload,
  reasonOf,
} from "@signalbox/channel";
import { CARD_TOPIC, type Frame, ROBOT_TOPIC } from "../connection/frame.ts";
import { readClick } from "./click.ts";
import { readMessage } from "./message.ts";

/**
 * Creates a function that emits the events of frames.
 *
 * @returns a function that resolves with true if the frame may be acknowledged, and never rejects. DingTalk delivers
 * other frames again. Unreadable frames are acknowledged, because a redelivery would be unreadable too.
 */
export function createReceiver(
  context: Pick<ChannelContext, "account" | "clock" | "raw" | "logger" | "emit">,
  botId: string,
): (frame: Frame) => Promise<boolean> {
  const { logger } = context;

  function read({ topic, data, messageId }: Frame): InboundEvent | undefined {
    const payload = parsePayload(data);
    if (payload === undefined) return undefined;
    const facts = eventFacts(context, botId);
    if (topic === ROBOT_TOPIC) return readMessage(payload, facts);
    return topic === CARD_TOPIC ? readClick(payload, messageId, facts) : undefined;
  }

  return async (frame) => {
    const event = read(frame);
    if (event === undefined) {
      logger.warn("skipped an unreadable event");
      return true;
    }
    try {
      return (await context.emit(event)) !== "rejected";
    } catch (error) {
      logger.error("failed to accept an event; DingTalk will deliver it again", { reason: reasonOf(error) });
      return false;
    }
  };
}
