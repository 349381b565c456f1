import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Model } from "@signalbox/agent-core";
import { expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { readTurn } from "../src/testkit/index.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const model: Model = {
  id: "m",
  provider: "p",
  api: "anthropic-messages",
  contextWindow: 1_000,
  maxOutputTokens: 100,
  input: ["text"],
  thinking: [],
  tools: "native",
};

test("a turn that broke off is let go of, answer and all", async () => {
  const answers: WeakRef<ReadableStream>[] = [];
  const stream = anthropicMessages.connect({
    apiKey: "k",
    fetch: async () => {
      const response = new Response('event: ping\ndata: {"type":"ping"}\n\n', {
        headers: { "content-type": "text/event-stream" },
      });
      if (response.body !== null) answers.push(new WeakRef(response.body));
      return response;
    },
  });
  for (let i = 0; i < 40; i++) {
    const turn = await readTurn(
      stream(model, {
        system: { stable: "" },
        messages: [{ role: "user", content: "Go.", timestamp: 0 }],
        tools: [],
      }),
    );
    expect(turn.error?.code).toBe("network");
  }
  expect(answers).toHaveLength(40);
  const held = (): number => {
    collect();
    return answers.filter((answer) => answer.deref() !== undefined).length;
  };
  // The last one or two may still be on a stack.
  await expect.poll(held).toBeLessThan(5);
});
