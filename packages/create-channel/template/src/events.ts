import {
  type EventFacts,
  eventBase,
  type InboundEvent,
  normalizeLineEnds,
  objectAt,
  type Payload,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { addressCodec } from "./address.ts";

/** Translates an event of the platform. Returns `undefined` if it is malformed. */
export function readEvent(payload: Payload, facts: EventFacts): InboundEvent | undefined {
  const eventId = textAt(payload, "id");
  const conversation = textAt(payload, "conversation");
  const message = objectAt(payload, "message");
  const messageId = textAt(message, "id");
  const from = objectAt(payload, "from");
  const senderId = textAt(from, "id");
  if (
    eventId === undefined ||
    conversation === undefined ||
    messageId === undefined ||
    senderId === undefined
  )
    return undefined;
  const isDirect = payload["kind"] === "direct";
  const mentions = mentionsIn(payload, facts.botId);
  const replyTo = textAt(message, "replyTo");
  return {
    ...eventBase("__ID__", facts, {
      eventId,
      conversation: { id: conversation, kind: isDirect ? "direct" : "group" },
      address: addressCodec.encode({ conversation }),
      sender: {
        id: senderId,
        name: textAt(from, "name"),
        isBot: from["bot"] === true,
        isSelf: senderId === facts.botId,
      },
      timestamp: timeAt(payload, "at"),
      payload,
    }),
    type: "message",
    // Compare ids, never names in the text.
    addressed: isDirect ? "dm" : mentions.some(({ isSelf }) => isSelf) ? "mention" : "none",
    messageId,
    text: normalizeLineEnds(textAt(message, "text") ?? ""),
    media: [],
    mentions,
    references: replyTo === undefined ? [] : [{ kind: "reply", messageId: replyTo }],
  };
}

function mentionsIn(payload: Payload, botId: string): { readonly id: string; readonly isSelf: boolean }[] {
  const ids = Array.isArray(payload["mentions"]) ? payload["mentions"] : [];
  return ids.flatMap((id: unknown) =>
    typeof id === "string" && id !== "" ? [{ id, isSelf: id === botId }] : [],
  );
}
