import { type AgentMessage, convertToLlm } from "@signalbox/agent-core";
import { createModels } from "@signalbox/llm-providers";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { startGoogle } from "@signalbox/testkit/google";
import { startMistral } from "@signalbox/testkit/mistral";
import { startOpenAI } from "@signalbox/testkit/openai";
import { expect, onTestFinished } from "vitest";

/** Sends a history to a fake server of each model API, which refuses what the vendor refuses. */
export async function expectEachModelAccepts(history: readonly AgentMessage[]): Promise<void> {
  const messages = history.map(convertToLlm);
  const script = () => ({ text: "fine" });
  const fakes = await Promise.all([
    startAnthropic({ script }),
    startOpenAI({ script }),
    startGoogle({ script }),
    startMistral({ script }),
  ]);
  onTestFinished(async () => void (await Promise.all(fakes.map((fake) => fake.stop()))));
  const [anthropic, openai, google, mistral] = fakes;
  const apiKey = "a-key-of-nobody-0123456789";
  const models = createModels({
    anthropic: { api: "anthropic-messages", apiKey, baseUrl: anthropic.url },
    openai: { api: "openai-responses", apiKey, baseUrl: openai.baseUrl },
    chat: { api: "openai-chat", apiKey, baseUrl: openai.baseUrl, models: [{ id: "gpt-4.1" }] },
    google: { api: "google-generative", apiKey, baseUrl: google.url },
    mistral: { api: "mistral-chat", apiKey, baseUrl: mistral.url },
  });
  for (const reference of [
    "anthropic/claude-sonnet-4-6",
    "openai/gpt-5.2",
    "chat/gpt-4.1",
    "google/gemini-2.5-flash",
    "mistral/mistral-medium-3.5",
  ]) {
    const resolved = models.resolve(reference);
    if (!resolved.ok) throw new Error(resolved.problem.message);
    let end: unknown;
    for await (const event of resolved.stream(resolved.model, {
      system: { stable: "You help." },
      messages,
      tools: [],
    }))
      end = event;
    expect(end, reference).toMatchObject({ message: { stopReason: "end_turn" } });
  }
}
