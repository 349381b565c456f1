import {
  ChannelError,
  type Outbound,
  type PartReceipt,
  type Receipt,
  type SendOptions,
} from "@signalbox/channel";

/** A message for the viewers of a conversation. */
export interface WebUpdate {
  readonly type: "message";
  readonly conversation: string;
  readonly messageId: string;
  readonly text: string;
  readonly markup: "plain" | "markdown";
  readonly replyTo?: string;
}

/** Passes a message to the viewers part by part. Calls `onPart` after each part. */
export async function sendToViewers(
  publish: (update: WebUpdate) => void,
  conversation: string,
  message: Outbound,
  { idempotencyKey, startAt = 0, onPart }: SendOptions,
): Promise<Receipt> {
  const parts: PartReceipt[] = [];
  for (const [index, part] of message.parts.entries()) {
    if (index < startAt) continue;
    if (part.type !== "text" && part.type !== "markdown") {
      throw new ChannelError("unsupported", `The web channel shows no ${part.type}`, { receipt: { parts } });
    }
    const messageId = `${idempotencyKey}.${index}`;
    const replyTo = index === 0 ? message.replyTo : undefined;
    publish({
      type: "message",
      conversation,
      messageId,
      text: part.text,
      markup: part.type === "text" ? "plain" : "markdown",
      replyTo,
    });
    const receipt = { index, messageId };
    parts.push(receipt);
    await onPart?.(receipt);
  }
  return { parts };
}
