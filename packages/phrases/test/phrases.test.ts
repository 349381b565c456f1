import { describe, expect, it } from "vitest";
import { type Phrases, phrasesFor, phrasesIn, type StatusFacts } from "../src/index.ts";

const en = phrasesIn("en");
const zh = phrasesIn("zh");
const HAN = /\p{Script=Han}/u;

const agent = { id: "coder", name: "Coder" };
const STATUS: StatusFacts = {
  version: "1.2.3",
  agent,
  model: "openai/gpt-5.2",
  thinking: "off",
  upMs: 3 * 3_600_000 + 60_000,
  messages: 4,
  isRunning: false,
  waiting: 0,
  queueMode: "steer",
};
const BUDGET = {
  of: "sender",
  per: "day",
  unit: "micros",
  limit: 2_000_000,
  left: 310_000,
  until: 0,
} as const;

describe("phrasesFor", () => {
  it("uses the configured language, else Chinese for Chinese characters, else English", () => {
    expect(phrasesFor("en", "你好")).toBe(en);
    expect(phrasesFor("zh", "hello")).toBe(zh);
    expect(phrasesFor(undefined, "把 README 翻译一下")).toBe(zh);
    for (const written of ["hello", "/status", "", "👍", "Привет"])
      expect(phrasesFor(undefined, written)).toBe(en);
  });
});

describe("the texts", () => {
  it("exist in both languages", () => {
    const texts = (phrases: object, group = ""): [string, unknown][] =>
      Object.entries(phrases).flatMap(([name, value]): [string, unknown][] =>
        typeof value === "object" && value !== null ? texts(value, `${name}.`) : [[group + name, value]],
      );
    const chinese = new Map(texts(zh));
    const onlyKeywords = ["usages.queue", "usages.speech"];
    for (const [name, value] of texts(en)) {
      expect(typeof chinese.get(name), name).toBe(typeof value);
      if (typeof value !== "string" || name === "language" || onlyKeywords.includes(name)) continue;
      expect(value, name).not.toMatch(HAN);
      expect(chinese.get(name), name).toMatch(HAN);
    }
    expect(chinese.size).toBe(texts(en).length);
  });

  it.each([
    ["status", (words: Phrases) => words.status({ ...STATUS, forOwner: { calls: 2, skills: 1 } }), "gpt-5.2"],
    ["question", question, "/approve ABCD2345 allow"],
    ["usage", (words: Phrases) => words.usage({ inputTokens: 12_345 }), "12,345"],
    ["budget", (words: Phrases) => words.budgetLeft(BUDGET), "$0.31"],
    ["compacted", (words: Phrases) => words.compacted(3, 9, 400, false), "9"],
    ["full", (words: Phrases) => words.tooManyWait("old", 20), "20"],
    ["pairing", (words: Phrases) => words.pairing("ABCDEFGH"), "ABCDEFGH"],
    ["unspoken", (words: Phrases) => words.unspoken(["exec"]), "exec"],
  ] as const)("contain the facts in both languages: %s", (_, say, fact) => {
    expect(say(en)).not.toMatch(HAN);
    expect(say(zh)).toMatch(HAN);
    for (const words of [en, zh]) expect(say(words)).toContain(fact);
  });
});

function question(words: Phrases): string {
  return words.question({
    id: "ABCD2345",
    agent: "coder",
    tool: "exec",
    reason: "",
    action: "rm -rf build",
    program: "/usr/bin/rm",
    folder: "/srv",
    hosts: ["a.test"],
    files: ["x"],
    environment: ["A=1"],
    isComplete: true,
    until: "06:10",
    answers: ["1. /approve ABCD2345 allow"],
  });
}

describe("in English", () => {
  it("/status shows the state, and to owners also the pending approvals", () => {
    expect(en.status(STATUS).split("\n")).toEqual([
      "Signalbox 1.2.3, up for 3 h 1 min.",
      "Agent: Coder (coder), model openai/gpt-5.2, thinking off.",
      "Conversation: 4 messages.",
      "Now: nothing running, 0 waiting, queue mode steer.",
    ]);
    const busy = en.status({ ...STATUS, isRunning: true, forOwner: { calls: 2, skills: 0 } });
    expect(busy).toMatch(/Now: running,[\s\S]*2 tool calls need approval: \/approve$/);
  });

  it.each([
    [500, "0 s", "0 秒"],
    [59_999, "59 s", "59 秒"],
    [60_000, "1 min", "1 分钟"],
    [47 * 3_600_000, "47 h 0 min", "47 小时 0 分钟"],
    [72 * 3_600_000, "3 days", "3 天"],
  ])("/status shows %d ms of uptime as %s", (upMs, words, chinese) => {
    expect(en.status({ ...STATUS, upMs })).toContain(`up for ${words}.`);
    expect(zh.status({ ...STATUS, upMs })).toContain(`已运行 ${chinese}。`);
  });

  it("uses the singular for a count of one", () => {
    const status = en.status({ ...STATUS, messages: 1, forOwner: { calls: 1, skills: 1 } });
    expect(status).toContain("Conversation: 1 message.");
    expect(status.split("\n").slice(-2)).toEqual([
      "1 tool call needs approval: /approve",
      "1 new or changed skill needs your approval: /skills",
    ]);
    expect(en.queue("steer", false, 1)).toBe("Queue mode: steer. 1 message waiting.");
    expect(en.usage({ modelCalls: 1 })).toContain(", 1 model call, ");
  });

  it("/whoami shows the sender, the rule and the conversation", () => {
    const facts = { speaker: "feishu:ou_1", role: "owner", rule: "owner", agent, sessionKey: "s" } as const;
    expect(en.whoami({ ...facts, conversation: { id: "g", kind: "group" } })).toBe(
      "You are feishu:ou_1, an owner (owner).\nYou are talking to Coder (coder) in the group g.\nConversation: s",
    );
    const guest = { ...facts, role: "guest", conversation: { id: "x", kind: "direct" } } as const;
    expect(en.whoami(guest)).toMatch(/a guest[\s\S]*a direct chat/);
  });

  it("/stop reports whether a run was stopped, and the dropped messages", () => {
    expect(en.stopped(false, 0)).toBe("Nothing was running.");
    expect(en.stopped(true, 1)).toBe("Stopped. 1 waiting message was dropped.");
    expect(en.stopped(true, 2)).toBe("Stopped. 2 waiting messages were dropped.");
  });

  it("/usage shows exact amounts, and zeros without usage", () => {
    const used = {
      modelCalls: 2,
      inputTokens: 12_345,
      cacheReadTokens: 10,
      outputTokens: 7,
      costMicros: 1_000_007,
    };
    expect(en.usage(used)).toBe("12,345 tokens in (10 cached), 7 out, 2 model calls, $1.000007");
    expect(en.usage()).toBe("0 tokens in (0 cached), 0 out, 0 model calls, $0.000000");
  });

  it("/queue shows the mode, and budgets what is left", () => {
    expect(en.queue("steer", false, 0)).toBe("Queue mode: steer. 0 messages waiting.");
    expect(en.queue("collect", true, 2)).toBe(
      "Queue mode: collect (for this conversation). 2 messages waiting.",
    );
    expect(en.budgetLeft(BUDGET)).toBe(
      "each sender, $2.00 a day: $0.31 left, resets at 1970-01-01 00:00 UTC",
    );
    expect(zh.budgetLeft(BUDGET)).toBe("每个发送者，每天 $2.00：剩余 $0.31，1970-01-01 00:00 UTC 重置");
  });
});
