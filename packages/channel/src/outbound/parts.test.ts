import { describe, expect, it } from "vitest";
import { ChannelError, sendParts } from "../index.ts";

const message = { replyTo: "m0", parts: ["a", "b", "c"].map((text) => ({ type: "text" as const, text })) };

describe("sendParts", () => {
  it("reports each part before the next, and adds a receipt to an error", async () => {
    const calls: string[] = [];
    const sending = sendParts(
      message,
      { idempotencyKey: "k", startAt: 1, onPart: ({ messageId }) => void calls.push(messageId) },
      async ({ key, replyTo, index }) => {
        calls.push(`${key} ${replyTo}`);
        if (index === 2)
          throw new ChannelError("rate_limited", "slow", { retryAfterMs: 5, scope: "account" });
        return `m${index}`;
      },
    );
    await expect(sending).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 5,
      scope: "account",
      receipt: { parts: [{ index: 1, messageId: "m1" }] },
    });
    expect(calls).toEqual(["k.1 undefined", "m1", "k.2 undefined"]);
  });

  it("passes replyTo to the first part only", async () => {
    const replies: unknown[] = [];
    await sendParts(message, { idempotencyKey: "k" }, async ({ replyTo, index }) => {
      replies.push(replyTo);
      return `m${index}`;
    });
    expect(replies).toEqual(["m0", undefined, undefined]);
  });
});
