import type { Message, Model } from "@signalbox/agent-core";
import { type FakeAnthropic, startAnthropic } from "@signalbox/testkit/anthropic";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { createCatalogue } from "../src/catalogue/catalogue.ts";
import { readTurn } from "../src/testkit/index.ts";
import { requestChecker } from "./spec.ts";
import { conversations, result, tools, user } from "./support/conversations.ts";
import { bodyOf } from "./support/requests.ts";

const catalogue = createCatalogue();
const models = catalogue.list().filter((model) => model.provider === "anthropic");
const checker = requestChecker("anthropic.yaml", "/v1/messages");

/**
 * Parts that the community's mirror of the API document lacks, but the SDK and the documentation have. They are not
 * checked.
 */
const GAPS: Readonly<Record<string, (part: unknown) => boolean>> = {
  // The mode of Claude Sonnet 5.5 that thinks only between tools.
  thinking: (part) => JSON.stringify(part) === '{"type":"between_tools"}',
};

function problems(body: unknown): string[] {
  if (typeof body !== "object" || body === null) return ["not an object"];
  const known = Object.entries(body).filter(([name, part]) => GAPS[name]?.(part) !== true);
  return checker?.problems(Object.fromEntries(known)) ?? [];
}

/** Recorded turns of other vendors have made-up signatures for a model of this name. */
function casesFor(model: Model): ReturnType<typeof conversations> {
  const own = model.id === "claude-sonnet-4-6";
  return conversations(model).filter(({ name }) => !own || !name.startsWith("handed over"));
}

describe.each(models.map((model) => [model.id, model] as const))("requests to %s", (_, model) => {
  test.skipIf(checker === undefined).each(casesFor(model))(
    "follows the API document: $name",
    async (conversation) => {
      const body = await bodyOf(anthropicMessages, model, conversation, "https://api.anthropic.com");
      expect(problems(body)).toEqual([]);
    },
  );
});

describe("a request that the vendor would refuse", () => {
  let fakeServer: FakeAnthropic;
  beforeAll(async () => {
    fakeServer = await startAnthropic({ script: () => ({ text: '"Yes."' }), trustThinking: true });
  });
  afterAll(() => fakeServer.stop());

  for (const model of models)
    test.each(casesFor(model))(`is not in a request to ${model.id}: $name`, async (conversation) => {
      const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: fakeServer.url });
      const turn = await readTurn(stream(model, conversation.context, conversation.options));
      expect(turn.error).toBeUndefined();
    });
});

describe("a conversation with tools and thinking", () => {
  async function converse(model: Model): Promise<void> {
    const fakeServer = await startAnthropic({
      script: [
        {
          thinking: "I need both.",
          text: "Reading.",
          toolCalls: [
            { name: "read_file", input: { path: "a.txt" } },
            { name: "now", input: {} },
          ],
        },
        { thinking: "Now I know.", text: "Done." },
        { text: "You are welcome." },
      ],
    });
    const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: fakeServer.url });
    const messages: Message[] = [user("Start.")];
    for (const next of [undefined, undefined, user("Thanks.")]) {
      if (next !== undefined) messages.push(next);
      const context = { system: { stable: "Be brief.", volatile: "It is late." }, tools, messages };
      const turn = await readTurn(stream(model, context, { thinking: "high" }));
      expect(turn.error).toBeUndefined();
      messages.push(turn.message);
      for (const block of turn.message.content)
        if (block.type === "toolCall")
          messages.push(result(block.id, block.name, [{ type: "text", text: "Contents." }]));
      expect(problems(JSON.parse(fakeServer.requests.at(-1)?.text ?? ""))).toEqual([]);
    }
    await fakeServer.stop();
  }

  test.each(models.map((model) => [model.id, model] as const))(
    "is sent back with signatures to %s",
    (_, model) => converse(model),
  );
});
