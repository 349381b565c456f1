import { describe, expect, it } from "vitest";
import { ChannelError, type OutboundPart, sendParts } from "../index.ts";
import type { PartToSend } from "./parts.ts";

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

describe("a part that the platform refuses", () => {
  const options = { idempotencyKey: "k" };
  const refusal = (code: "invalid" | "not_found" | "permission", scope?: "conversation") =>
    new ChannelError(code, `${code} at first`, { scope });

  /** Returns the forms in which a part was tried until the platform accepted one. */
  async function forms(
    part: OutboundPart,
    accepts: (form: PartToSend) => boolean,
    error = refusal("invalid"),
  ) {
    const tried: unknown[] = [];
    const sent = sendParts({ parts: [part], replyTo: "m0" }, options, async (form) => {
      tried.push([form.part.type === "media" ? form.part.kind : form.part, form.replyTo, form.key]);
      if (!accepts(form)) throw error;
      return "m1";
    });
    return { tried, outcome: await sent.then(({ parts }) => parts, String) };
  }

  it("is sent as plain text, and then without the reply", async () => {
    const part = { type: "markdown", text: "**Yes**, see [it](https://x.example)." } as const;
    const plain = { type: "text", text: "Yes, see it (https://x.example)." };
    expect(await forms(part, ({ part: { type } }) => type === "text")).toEqual({
      tried: [
        [part, "m0", "k.0"],
        [plain, "m0", "k.0"],
      ],
      outcome: [{ index: 0, messageId: "m1" }],
    });
    expect(await forms(part, ({ replyTo }) => replyTo === undefined)).toMatchObject({
      tried: [
        [part, "m0", "k.0"],
        [plain, "m0", "k.0"],
        [plain, undefined, "k.0"],
      ],
      outcome: [{ messageId: "m1" }],
    });
  });

  it("keeps its formatting if only the message that it replies to is gone", async () => {
    const part = { type: "markdown", text: "**Yes**" } as const;
    const { tried } = await forms(part, ({ replyTo }) => replyTo === undefined, refusal("not_found"));
    expect(tried).toEqual([
      [part, "m0", "k.0"],
      [part, undefined, "k.0"],
    ]);
  });

  it("is sent as a file if it is an image, and a question keeps its buttons", async () => {
    const image = {
      type: "media",
      kind: "image",
      name: "a.png",
      mimeType: "image/png",
      size: 1,
      ref: 1,
    } as const;
    const isFile = ({ part }: PartToSend) => part.type === "media" && part.kind === "file";
    const kinds = async (error: ChannelError) =>
      (await forms(image, isFile, error)).tried.map((form) => Array.isArray(form) && form[0]);
    const ofPlatform = new ChannelError("invalid", "not an image", { platformCode: "400" });
    expect(await kinds(ofPlatform)).toEqual(["image", "file"]);
    // If the channel itself refuses an attachment, such as an image over its limit, it is not retried as a file either.
    expect(await kinds(new ChannelError("too_large", "2 bytes; an image has at most 1"))).not.toContain(
      "file",
    );
    const buttons = [{ id: "y", label: "Yes" }];
    const question = { type: "buttons", text: "**Now?**", buttons } as const;
    const { tried } = await forms(question, ({ part }) => part.type === "buttons" && part.text === "Now?");
    expect(tried.at(-1)).toEqual([{ type: "buttons", text: "Now?", buttons }, "m0", "k.0"]);
  });

  it("fails with its first refusal if no form is accepted", async () => {
    const { tried, outcome } = await forms({ type: "text", text: "Yes" }, () => false);
    expect(tried).toHaveLength(2);
    expect(outcome).toContain("invalid at first");
  });

  it("is tried once if the conversation refuses everything, or its outcome is unknown", async () => {
    const part = { type: "markdown", text: "**Yes**" } as const;
    for (const error of [
      refusal("permission"),
      refusal("not_found", "conversation"),
      new ChannelError("unknown_outcome", "no response"),
    ])
      expect((await forms(part, () => false, error)).tried).toHaveLength(1);
  });
});
