import { expect, it, onTestFinished, vi } from "vitest";
import { createMemoryService } from "./memory-service.ts";
import { MODEL, open, said } from "./openai-harness.ts";

it("sends keep-alive comments every 15 seconds, which clients ignore", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { service, openai } = await open(createMemoryService());
  const ask = {
    model: MODEL,
    messages: [{ role: "user" as const, content: "hello" }],
    stream: true as const,
  };
  const chat = await openai().chat.completions.create(ask).asResponse();
  const responses = await openai()
    .responses.create({ model: MODEL, input: "hello", stream: true })
    .asResponse();
  vi.advanceTimersByTime(30_000);
  for (const { id } of service.submissions) service.end(id, said("hi"));
  for (const { body } of [chat, responses]) {
    const text = await new Response(body).text();
    expect(text.match(/^:$/gm)).toHaveLength(2);
    expect(text).toContain("hi");
  }
  const stream = await openai().chat.completions.create(ask);
  vi.advanceTimersByTime(15_000);
  const [last] = service.submissions.slice(-1);
  service.end(last?.id ?? "", said("hi"));
  let answer = "";
  for await (const { choices } of stream) answer += choices[0]?.delta.content ?? "";
  expect(answer).toBe("hi");
});
