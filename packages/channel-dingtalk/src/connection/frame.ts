import { objectAt, type Payload, parsePayload, textAt } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** The topic of messages to the bot, and the one of clicks on cards. */
export const ROBOT_TOPIC = "/v1.0/im/bot/messages/get";
export const CARD_TOPIC = "/v1.0/card/instances/callback";

/** The callbacks that a connection receives. */
export const subscriptions: readonly Payload[] = [ROBOT_TOPIC, CARD_TOPIC].map((topic) => ({
  type: "CALLBACK",
  topic,
}));

/** A frame of stream mode. Source: DingTalk's SDKs for stream mode. */
export interface Frame {
  /** `SYSTEM`, `CALLBACK` or `EVENT`. */
  readonly type: string;
  readonly topic: string;
  /** Identifies the frame in its response. A redelivery may have another id. */
  readonly messageId: string;
  /** JSON text. */
  readonly data: string;
}

/** Parses a frame. Returns `undefined` if it is malformed. */
export function readFrame(text: unknown): Frame | undefined {
  if (typeof text !== "string" || text.length > limits.frameLength) return undefined;
  const payload = parsePayload(text) ?? {};
  const headers = objectAt(payload, "headers");
  const [type, topic, messageId] = [
    textAt(payload, "type"),
    textAt(headers, "topic"),
    textAt(headers, "messageId"),
  ];
  if (type === undefined || topic === undefined || messageId === undefined) return undefined;
  return { type, topic, messageId, data: textAt(payload, "data") ?? "{}" };
}

/** Creates the response that acknowledges a frame. A ping is answered with its own data. */
export function createResponse({ type, messageId, data }: Frame): string {
  const answers: Readonly<Record<string, string>> = {
    SYSTEM: data,
    EVENT: JSON.stringify({ status: "SUCCESS", message: "success" }),
  };
  return JSON.stringify({
    code: 200,
    headers: { contentType: "application/json", messageId },
    message: "OK",
    data: answers[type] ?? JSON.stringify({ response: {} }),
  });
}
