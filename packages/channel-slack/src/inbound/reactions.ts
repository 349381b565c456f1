import { objectAt, type Payload, textAt } from "@signalbox/channel";
import { messageId } from "../address.ts";
import { unicodeOf } from "../emoji.ts";
import { common, eventKey, type Facts, type Read, senderOf } from "./event-base.ts";

/** A reaction to a message; those to files concern nobody here. */
export function reactionEvent(event: Payload, body: Payload, facts: Facts): Read {
  const item = objectAt(event, "item");
  if (item["type"] !== "message") return "ignored";
  const channel = textAt(item, "channel");
  const ts = textAt(item, "ts");
  const name = textAt(event, "reaction");
  if (channel === undefined || ts === undefined || name === undefined) return "malformed";
  const sender = senderOf(event, facts);
  if (sender.isSelf) return "ignored";
  return {
    ...common({ channel, body, sender, key: eventKey(event, body), at: event }, facts),
    type: "reaction",
    messageId: messageId({ channel, ts }),
    emoji: unicodeOf(name) ?? `:${name}:`,
    added: event["type"] === "reaction_added",
  };
}
