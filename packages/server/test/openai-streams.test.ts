import type { LiveEvent } from "@signalbox/protocol";
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

it.each([
  ["sends no text twice if the run is repeated from its start", "one two", "one two"],
  ["starts a new paragraph if the run continues on another node with another text", "1, 2", "one \n\n1, 2"],
])("%s", async (_, again, expected) => {
  const { service, openai } = await open(createMemoryService());
  const stream = await openai().chat.completions.create({
    model: MODEL,
    messages: [{ role: "user", content: "hello" }],
    stream: true,
  });
  const [submission] = service.submissions;
  if (submission === undefined) throw new Error("nothing was submitted");
  const sessionKey = service.sessionKey("api", submission.agent, submission.conversation);
  const start: LiveEvent = { type: "run.start", runId: "r1", answers: [submission.id] };
  const publish = (text: string) =>
    service.live.publish(sessionKey, { type: "text.delta", runId: "r1", delta: text });
  service.live.publish(sessionKey, start);
  publish("one ");
  service.live.publish(sessionKey, start);
  for (const letter of again) publish(letter);
  service.end(submission.id, said(again));
  let answer = "";
  for await (const { choices } of stream) answer += choices[0]?.delta.content ?? "";
  expect(answer).toBe(expected);
});
