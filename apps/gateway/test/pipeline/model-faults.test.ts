import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedTurn } from "@signalbox/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { exampleConfig, inboxRows, openWorld, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const call = { id: "toolu_1", name: "write", input: { file_path: "half.txt", content: "x".repeat(200) } };

/** What the model does, how the message ends, and what the person reads. */
const FAULTS: readonly (readonly [string, readonly ScriptedTurn[], string, RegExp])[] = [
  ["is overloaded once", [{ error: { status: 529 } }, { text: "all well" }], "replied", /^all well$/],
  [
    "asks to wait",
    [{ error: { status: 429, retryAfter: 0 } }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  ["goes on failing", Array(6).fill({ error: { status: 500 } }), "failed-reported", /^Sorry, .*overloaded/],
  [
    "refuses the key",
    [{ error: { status: 401 } }],
    "failed-reported",
    /^Sorry, .*Owners see the reason with \/why/,
  ],
  [
    "breaks off in a text",
    [{ text: "one and two", fault: { kind: "cut", afterEvents: 4 } }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  [
    "breaks off in a call",
    [{ toolCalls: [call], fault: { kind: "cut", afterEvents: 4 } }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  [
    "talks nonsense",
    [{ text: "one and two", fault: { kind: "garbage", afterEvents: 4 } }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  [
    "fails in mid-stream",
    [{ text: "one and two", error: { status: 529, afterEvents: 4 } }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  [
    "reaches its limit in a call",
    [{ toolCalls: [call], stopReason: "max_tokens" }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  [
    "calls a tool it was not given",
    [{ toolCalls: [{ name: "rm", input: {} }] }, { text: "all well" }],
    "replied",
    /^all well$/,
  ],
  ["says nothing at all", [{ text: "" }], "replied", /without text/],
  ["only thinks", [{ thinking: "So four.", text: "" }], "replied", /without text/],
  ["declines", [{ text: "", stopReason: "refusal" }], "replied", /declined to answer/],
];

describe("when the model", () => {
  it.each(FAULTS)(
    "%s, the message has its end and the conversation goes on",
    async (_, turns, state, said) => {
      const world = await openWorld();
      world.configure(exampleConfig());
      const script = [...turns];
      world.script(() => script.shift() ?? { text: "and on" });
      const started = await world.start();
      await started.post(textMessage("go", { senderId: ZHANG, messageId: "om_1" }));
      await started.settled();
      const rows = await inboxRows(world);
      expect(rows.map((row) => row.state)).toEqual([state]);
      const texts = world.feishu.sent.map(({ content }) => JSON.parse(content).text ?? "");
      expect(texts.join("\n")).toMatch(said);
      expect(texts.length).toBeLessThanOrEqual(1);
      expect(existsSync(join(world.home.workspace("coder"), "half.txt"))).toBe(false);

      // What is left is a conversation that the vendor takes.
      script.length = 0;
      await started.post(textMessage("and now?", { senderId: ZHANG, messageId: "om_2" }));
      await started.settled();
      expect(world.feishu.sent.at(-1)).toMatchObject({ parentId: "om_2", content: '{"text":"and on"}' });
      expect(modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text).toMatch(/and now\?$/);
      expect(world.anthropic.requests.filter(({ status }) => status === 400)).toEqual([]);
    },
  );

  it("each failed attempt is logged with the vendor's message", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([{ error: { status: 529 } }, { error: { status: 529 } }, { error: { status: 401 } }]);
    const started = await world.start();
    await started.post(textMessage("go", { senderId: ZHANG, messageId: "om_1" }));
    await started.settled();
    const noted = async () => (await started.gateway.service.trace("om_1"))?.entries ?? [];
    await expect.poll(noted).toContainEqual(expect.objectContaining({ stage: "deliver" }));
    const lines = (await noted()).flatMap(({ stage, summary }) => (stage === "run" ? [summary] : []));
    expect(lines).toEqual([
      expect.stringMatching(/^anthropic\/claude-sonnet-4-6 failed \(overloaded\): .*; next: /),
      expect.stringMatching(/^anthropic\/claude-sonnet-4-6 failed \(overloaded\): .*; next: /),
      expect.stringMatching(/^anthropic\/claude-sonnet-4-6 failed \(auth\): (?!.*next)/),
    ]);
    // The log has a line for each as well, under the id by which `why` finds the message.
    const [message] = await inboxRows(world);
    const logged = started.log().split("\n");
    const about = (words: string) =>
      logged.filter((line) => line.includes(words) && line.includes(message?.id ?? "?"));
    expect(about("a message was accepted")).toHaveLength(1);
    expect(about("a model call failed")).toHaveLength(2);
    expect(about("a run failed")).toHaveLength(1);
  });

  it("sends nothing for longer than the configured timeout, the run fails and its sender is informed", async () => {
    const world = await openWorld();
    const anthropic = { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" };
    const providers = { anthropic: { ...anthropic, timeouts: { firstByteMs: 60_000, idleMs: 100 } } };
    world.configure(exampleConfig({ models: { providers } }));
    world.script([{ text: "never ends", fault: { kind: "stall", afterEvents: 1 } }]);
    const started = await world.start();
    await started.post(textMessage("go", { senderId: ZHANG }));
    await started.settled();
    expect(world.feishu.sent.map(({ content }) => content)).toEqual([
      expect.stringContaining("cannot be reached"),
    ]);
  });
});
