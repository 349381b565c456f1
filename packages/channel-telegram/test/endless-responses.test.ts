import { createEndlessResponse } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { never, openBench } from "./harness.ts";

it.each([200, 500])("stops reading an endless response with status %i", async (status) => {
  const endless = createEndlessResponse({ status, headers: { "content-type": "application/json" } });
  let answer: Response | undefined;
  const fetch: typeof globalThis.fetch = async (...request) => answer ?? globalThis.fetch(...request);
  await using bench = await openBench(
    { transport: "webhook", webhookSecret: "secret-of-the-webhook" },
    { context: { fetch } },
  );
  answer = endless.response;
  const message = { parts: [{ type: "text", text: "hi" }] } as const;
  await expect(
    bench.channel.send({ chatId: "5001" }, message, { idempotencyKey: "k", signal: never }),
  ).rejects.toMatchObject({ code: "unknown_outcome" });
  expect(endless.sentBytes()).toBeLessThan(20_000_000);
});
