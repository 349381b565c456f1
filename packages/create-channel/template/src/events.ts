import {
  type InboundEvent,
  normalizeLineEnds,
  objectAt,
  type Payload,
  textAt,
  timeAt,
  toJson,
} from "@signalbox/channel";
import { addressCodec } from "./address.ts";

/** What an event leaves open. */
export interface Facts {
  readonly account: string;
  readonly botId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the gateway wants the platform's payload along. */
  readonly raw: boolean;
}

/** An event of the platform in the gateway's words; undefined for what the platform would not send. */
export function readEvent(payload: Payload, facts: Facts): InboundEvent | undefined {
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
  const name = textAt(from, "name");
  const replyTo = textAt(message, "replyTo");
  return {
    type: "message",
    eventId,
    channel: "__ID__",
    account: facts.account,
    // Another bot under the same account has events of its own.
    botId: facts.botId,
    conversation: { id: conversation, kind: isDirect ? "direct" : "group" },
    address: addressCodec.encode({ conversation }),
    sender: {
      id: senderId,
      ...(name === undefined ? {} : { name }),
      isBot: from["bot"] === true,
      isSelf: senderId === facts.botId,
    },
    // By ids, never by a name in the text.
    addressed: isDirect ? "dm" : mentions.some(({ isSelf }) => isSelf) ? "mention" : "none",
    timestamp: timeAt(payload, "at") ?? facts.now,
    messageId,
    text: normalizeLineEnds(textAt(message, "text") ?? ""),
    media: [],
    mentions,
    ...(replyTo === undefined ? {} : { replyTo: { messageId: replyTo } }),
    ...(facts.raw ? { raw: toJson(payload) ?? null } : {}),
  };
}

function mentionsIn(payload: Payload, botId: string): { readonly id: string; readonly isSelf: boolean }[] {
  const ids = Array.isArray(payload["mentions"]) ? payload["mentions"] : [];
  return ids.flatMap((id: unknown) =>
    typeof id === "string" && id !== "" ? [{ id, isSelf: id === botId }] : [],
  );
}
