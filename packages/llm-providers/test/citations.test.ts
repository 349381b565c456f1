import type { Block, Message } from "@signalbox/agent-core";
import { expect, test } from "vitest";
import { adapt } from "../src/adapt/adapt.ts";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { requestChecker } from "./spec.ts";
import { said, user } from "./support/conversations.ts";
import { fixtures, testModel } from "./support/fixtures.ts";
import { replay } from "./support/replay.ts";
import { bodyOf } from "./support/requests.ts";

/** Reads the fixture with citations and returns what is then sent to the same model. */
async function toReplayableCitation(provider: Provider, baseUrl: string): Promise<unknown> {
  const model = testModel(provider.api, "m");
  const bytes = fixtures(provider.api === "anthropic-messages" ? "anthropic" : provider.api).get(
    "server-tool-and-citations",
  );
  const { message } = await replay({ provider, model, baseUrl }, { pieces: [bytes ?? Buffer.of()] });
  expect(message.content.some((block) => block.type === "citation")).toBe(true);
  const messages: Message[] = [user("Look it up."), message, user("Thanks.")];
  expect(adapt(messages, model).losses).toEqual([]);
  const asked = { context: { system: { stable: "" }, messages, tools: [] }, options: {} };
  return bodyOf(provider, model, asked, baseUrl);
}

test("Anthropic's web search citations are sent back in their text", async () => {
  const body = await toReplayableCitation(anthropicMessages, "https://api.anthropic.com");
  expect(JSON.stringify(body)).toContain(
    '"citations":[{"type":"web_search_result_location","cited_text":"Tea has been drunk for long.","url":"https://example.org/tea","title":"Tea","encrypted_index":"e"}]',
  );
  expect(requestChecker("anthropic.yaml", "/v1/messages")?.problems(body) ?? []).toEqual([]);
});

test("Anthropic's texts are sent back unchanged, including white space between them", async () => {
  const model = testModel("anthropic-messages", "m");
  const texts = ["Tea is old.", "\n\n", "Coffee is younger."].map(
    (text) => ({ type: "text", text }) as const,
  );
  const messages: Message[] = [user("Hi."), said(model, texts), user("Thanks.")];
  const asked = { context: { system: { stable: "" }, messages, tools: [] }, options: {} };
  const body = await bodyOf(anthropicMessages, model, asked, "https://api.anthropic.com");
  expect(body).toMatchObject({ messages: [{}, { content: texts }, {}] });
});

test("OpenAI's web citations are sent back in their text", async () => {
  const body = await toReplayableCitation(openaiResponses, "https://api.openai.com/v1");
  expect(body).toMatchObject({
    input: [
      {},
      { type: "web_search_call" },
      {
        type: "message",
        content: [
          {
            type: "output_text",
            annotations: [
              {
                type: "url_citation",
                start_index: 0,
                end_index: 8,
                title: "Weather",
                url: "https://example.org/oslo",
              },
            ],
          },
        ],
      },
      {},
    ],
  });
  const relaxed = { OutputTextContent: ["logprobs"] };
  expect(requestChecker("openai.yaml", "/responses", relaxed)?.problems(body) ?? []).toEqual([]);
});

test.each(["anthropic-messages", "openai-responses", "openai-chat", "mistral-chat", "google-generative"])(
  "a citation that %s takes none back of is a loss, for its own model too",
  (api) => {
    const model = testModel(api, "m");
    const cited: Block = { type: "citation", text: "Tea", url: "https://example.org/tea" };
    const turn = said(model, [{ type: "text", text: "Tea." }, cited]);
    const { messages, losses } = adapt([user("Hi."), turn], model);
    expect(losses).toEqual([{ kind: "citation", message: 1, detail: "https://example.org/tea" }]);
    expect(messages[1]).toMatchObject({ content: [{ type: "text", text: "Tea." }] });
  },
);
