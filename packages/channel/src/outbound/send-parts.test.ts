import { describe, expect, it } from "vitest";
import { ChannelError, sendParts } from "../index.ts";

const message = { replyTo: "m0", parts: ["a", "b", "c"].map((text) => ({ type: "text" as const, text })) };

describe("sendParts", () => {
  it("tells each part before the next, and names the parts that are out when one fails", async () => {
    const told: string[] = [];
    const failing = sendParts(
      message,
      { idempotencyKey: "k", startAt: 1, onPart: ({ messageId }) => void told.push(messageId) },
      async ({ key, replyTo, index }) => {
        told.push(`${key} ${replyTo}`);
        if (index === 2)
          throw new ChannelError("rate_limited", "slow", { retryAfterMs: 5, scope: "account" });
        return `m${index}`;
      },
    );
    await expect(failing).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 5,
      scope: "account",
      receipt: { parts: [{ index: 1, messageId: "m1" }] },
    });
    expect(told).toEqual(["k.1 undefined", "m1", "k.2 undefined"]);
  });

  it("gives the message that is answered to the first part alone", async () => {
    const answered: unknown[] = [];
    await sendParts(message, { idempotencyKey: "k" }, async ({ replyTo, index }) => {
      answered.push(replyTo);
      return `m${index}`;
    });
    expect(answered).toEqual(["m0", undefined, undefined]);
  });
});
