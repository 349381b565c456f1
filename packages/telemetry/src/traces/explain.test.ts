import { readFileSync } from "node:fs";
import { phrasesIn } from "@signalbox/phrases";
import type { MessageInfo } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { explain } from "./explain.ts";
import { ADMISSION_RULES } from "./rules.ts";

const MESSAGE: MessageInfo = {
  id: "1",
  at: 0,
  channel: "slack",
  account: "main",
  conversation: "C1",
  sender: "U1",
  text: "hi",
  state: "replied",
  agent: "main",
};

function explained(message: Partial<MessageInfo>, model?: string) {
  const entries = model === undefined ? [] : [{ at: 1, stage: "run", summary: model, data: { of: "model" } }];
  return explain({ messageId: "1", entries, message: { ...MESSAGE, ...message } });
}

it.each<[Partial<MessageInfo>, string]>([
  [
    { state: "replied", rule: "dm_paired" },
    "It was answered by agent main: its sender is paired (dm_paired).",
  ],
  [{ state: "running" }, "It is being answered by agent main."],
  [{ state: "queued" }, "It is waiting for agent main."],
  [
    { state: "silent", rule: "stopped" },
    "It reached agent main, which sent no reply: someone stopped it (stopped).",
  ],
  [
    { state: "ignored", rule: "bot" },
    "It was not answered: its sender is a bot, and two bots could answer each other forever (bot).",
  ],
  [
    { state: "silent", rule: "empty" },
    "It reached agent main, which sent no reply: the model's answer contained no text (empty).",
  ],
  [{ state: "replied", rule: "command:status" }, "It was answered by agent main (command:status)."],
])("%j", (message, sentence) => {
  expect(explained(message).sentence).toBe(sentence);
});

it("returns the provider's error and a remedy if a model failed", () => {
  const { sentence, said, remedy } = explained(
    { state: "failed-reported", rule: "auth" },
    "anthropic/claude failed (auth): invalid x-api-key",
  );
  expect(sentence).toBe(
    "It could not be answered by agent main: the model provider rejected the API key (auth).",
  );
  expect(said).toContain("invalid x-api-key");
  expect(remedy).toContain("signalbox init");
});

it("names the model that answered", () => {
  const { said } = explained({ state: "replied" }, "demo/demo: stop, 12 tokens in, 30 out");
  expect(said).toBe("demo/demo: stop, 12 tokens in, 30 out");
  expect(explained({ state: "ignored" }).said).toBeUndefined();
});

it("uses the requested language", () => {
  const of = (message: Partial<MessageInfo>) =>
    explain({ messageId: "1", entries: [], message: { ...MESSAGE, ...message } }, phrasesIn("zh"));
  expect(of({ state: "failed-reported", rule: "auth", reason: "401." })).toEqual({
    sentence: "智能体“main”未能回答该消息（401）：模型服务商拒绝了 API 密钥（auth）。",
    remedy: expect.stringContaining("`signalbox init`"),
  });
  expect(of({ state: "ignored", rule: "dm_not_allowed" }).remedy).toBe('将 "slack:U1" 加入 access.allow。');
  expect(of({ state: "silent" }).sentence).toBe("智能体“main”已处理该消息，未回复。");
});

it("names the person to approve", () => {
  expect(explained({ state: "ignored", rule: "dm_not_allowed" }).remedy).toBe(
    'Add "slack:U1" to access.allow.',
  );
});

it("every admission rule is documented", () => {
  const page = readFileSync(new URL("../../../../docs/roles-and-rules.md", import.meta.url), "utf8");
  for (const [rule, { because }] of Object.entries(ADMISSION_RULES))
    expect(page).toContain(`| \`${rule}\` | ${because} |`);
});
