import { objectAt, type Payload, textAt } from "@signalbox/channel";
import { messageId } from "../address.ts";
import { getEmoji } from "../emoji.ts";
import { createBase, type Facts, getEventId, type Read, readSender } from "./event-base.ts";

/** Reads a reaction to a message. Ignores reactions to files. */
export function reactionEvent(event: Payload, body: Payload, facts: Facts): Read {
  const item = objectAt(event, "item");
  if (item["type"] !== "message") return "ignored";
  const channel = textAt(item, "channel");
  const ts = textAt(item, "ts");
  const name = textAt(event, "reaction");
  if (channel === undefined || ts === undefined || name === undefined) return "malformed";
  const sender = readSender(event, facts);
  if (sender.isSelf) return "ignored";
  return {
    ...createBase({ channel, body, sender, key: getEventId(event, body), at: event }, facts),
    type: "reaction",
    messageId: messageId({ channel, ts }),
    emoji: getEmoji(name) ?? `:${name}:`,
    added: event["type"] === "reaction_added",
  };
}
