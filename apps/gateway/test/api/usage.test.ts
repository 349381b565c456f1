import type { ScriptedTurn } from "@signalbox/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, open, said } from "../support/feishu-talk.ts";
import { eventually, LI, TOKEN, type World, ZHANG } from "../support/harness.ts";

const provider = { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" };
const FALLBACK = {
  models: { providers: { anthropic: provider, spare: provider } },
  agents: {
    defaults: { model: "anthropic/claude-sonnet-4-6", fallbacks: ["spare/claude-haiku-4-5"] },
    list: [{ id: "coder", tools: { allow: ["ls"] } }],
  },
};
const cut = { kind: "cut", afterEvents: 4 } as const;

async function usageBy(world: World, by: string): Promise<Record<string, unknown>[]> {
  const listed = await world.command(["usage", "--by", by, "--json"]);
  return JSON.parse(listed.out);
}

describe("usage", () => {
  it("equals the vendor's report, with tools, retries and fallbacks counted once", async () => {
    // What people have begun to see is not answered by another model.
    const { world, started } = await open(FALLBACK, { drafts: { afterMs: 600_000 } });
    world.script([
      // Zhang: a turn with a tool, then its answer, each with the cache.
      { toolCalls: [{ name: "ls", input: {} }], usage: { input: 100, cacheWrite: 2_000, output: 40 } },
      { text: "two files", usage: { input: 60, cacheRead: 2_000, cacheWrite: 80, output: 21 } },
      // Li: an attempt that breaks off has used its input and what was said so far, and is made again.
      { text: "half an answer", usage: { input: 70, cacheRead: 2_080, output: 99 }, fault: cut },
      { text: "whole", usage: { input: 71, cacheRead: 2_080, output: 9 } },
      // Li again: the first model fails for good, another one answers at its own prices.
      ...[1, 2, 3].map(() => ({ text: "half an answer", usage: { input: 50, output: 99 }, fault: cut })),
      { text: "from the spare", usage: { input: 55, output: 7 } },
    ]);
    await ask(started, "what is there?");
    await ask(started, "and now?", LI);
    await ask(started, "again?", LI);
    expect(said(world)).toEqual(["two files", "whole", "from the spare"]);

    // Millionths of a dollar a token: Sonnet 4.6 takes 3, 15, 0.3 to read its cache and 3.75 to write it; Haiku 4.5 1,
    // 5.
    const zhang = {
      by: `feishu:${ZHANG}`,
      runs: 1,
      modelCalls: 2,
      inputTokens: 100 + 2_000 + 60 + 2_000 + 80,
      outputTokens: 40 + 21,
      cacheReadTokens: 2_000,
      cacheWriteTokens: 2_080,
      costMicros: 100 * 3 + 2_000 * 3.75 + 40 * 15 + (60 * 3 + 2_000 * 0.3 + 80 * 3.75 + 21 * 15),
    };
    // The token that is counted with the start, and one for the four letters that came.
    const broken = 1 + 1;
    const li = {
      by: `feishu:${LI}`,
      runs: 2,
      modelCalls: 2,
      inputTokens: 70 + 71 + 2 * 2_080 + 3 * 50 + 55,
      outputTokens: broken + 9 + 3 * broken + 7,
      cacheReadTokens: 2 * 2_080,
      cacheWriteTokens: 0,
      costMicros:
        (70 + 71) * 3 + 2 * 2_080 * 0.3 + (broken + 9) * 15 + 3 * (50 * 3 + broken * 15) + 55 + 7 * 5,
    };
    expect(await usageBy(world, "sender")).toEqual([zhang, li].toSorted((a, b) => (a.by < b.by ? -1 : 1)));
    const sum = (name: keyof typeof zhang) => Number(zhang[name]) + Number(li[name]);
    const both = {
      runs: 3,
      modelCalls: 4,
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      cacheReadTokens: sum("cacheReadTokens"),
      cacheWriteTokens: 2_080,
      costMicros: sum("costMicros"),
    };
    expect(await usageBy(world, "agent")).toEqual([{ by: "coder", ...both }]);
    expect(await usageBy(world, "day")).toEqual([
      { by: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), ...both },
    ]);

    const spare = { inputTokens: 55, outputTokens: 7, costMicros: 55 + 7 * 5 };
    expect(await usageBy(world, "model")).toMatchObject([
      {
        by: "anthropic/claude-sonnet-4-6",
        runs: 2,
        modelCalls: 3,
        inputTokens: both.inputTokens - spare.inputTokens,
        outputTokens: both.outputTokens - spare.outputTokens,
        cacheReadTokens: both.cacheReadTokens,
        costMicros: both.costMicros - spare.costMicros,
      },
      { by: "spare/claude-haiku-4-5", runs: 1, modelCalls: 1, cacheReadTokens: 0, ...spare },
    ]);

    await ask(started, "/usage", LI);
    const own = `${li.inputTokens.toLocaleString("en-US")} tokens in (4,160 cached), 24 out, 2 model calls`;
    expect(said(world).at(-1)).toContain(`You today (UTC): ${own}, $0.00${li.costMicros}`);
    expect(said(world).at(-1)).not.toContain("coder");
  });

  it("of each message equals its answer's, in one row for a batch", async () => {
    const { world, started } = await open({ session: { queue: { mode: "collect", debounceMs: 0 } } });
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index === 1) {
        reached.resolve();
        await goOn.promise;
      }
      return { text: `answer ${index}`, usage: { input: 100 * (index + 1), output: 10 } };
    });
    const first = await ask(started, "one");
    for (const text of ["two", "three", "four"]) {
      await started.post(textMessage(text, from(ZHANG)));
      await reached.promise;
    }
    goOn.resolve();
    await started.settled();

    const dollars = (input: number) => (input * 3 + 10 * 15) / 1e6;
    const answers = JSON.parse((await world.command(["usage", "--by", "message", "--json"])).out);
    const textsOf = ({ messages }: { messages: { text: string }[] }) => messages.map(({ text }) => text);
    expect(answers.map(textsOf)).toEqual([["three", "four"], ["two"], ["one"]]);
    expect(answers.map((answer: { costMicros: number }) => answer.costMicros / 1e6)).toEqual([
      ...[300, 200, 100].map(dollars),
    ]);
    const table = await world.command(["usage", "--by", "message", "--days", "1"]);
    const total = (600 * 3 + 30 * 15) / 1e6;
    expect(table.out).toContain(`Total: ${total.toFixed(6)} USD.`);

    await ask(started, "/usage");
    expect(said(world).at(-1)).toMatch(/^The previous message: 300 tokens in/);
    await started.post(textMessage("/usage", { ...from(ZHANG), parentId: first }));
    await started.settled();
    expect(said(world).at(-1)).toMatch(/^The message you replied to: 100 tokens in/);
    await started.post(textMessage("/usage", { ...from(LI), parentId: first }));
    await started.settled();
    expect(said(world).at(-1)).toMatch(/^This conversation: 0 tokens in/);
  });

  it("of an interrupted run is counted completely, and shown with the message", async () => {
    const { world, started } = await open({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 300 },
      agents: FALLBACK.agents,
    });
    let asked = 0;
    const turns: ScriptedTurn[] = [
      { toolCalls: [{ name: "ls", input: {} }], usage: { input: 100, cacheWrite: 2_000, output: 40 } },
      { text: "too late", delayMs: 20_000 },
      { text: "two files", usage: { input: 60, cacheRead: 2_000, output: 21 } },
    ];
    world.script(() => turns[asked++] ?? { text: "and nothing more" });
    await started.post(textMessage("what is there?", from(ZHANG)));
    await eventually(() => asked === 2, "the tool has run");
    await started.stop();
    const again = await world.start();
    await again.settled();
    expect(said(world)).toEqual(["two files"]);
    expect(await usageBy(world, "sender")).toEqual([
      {
        by: `feishu:${ZHANG}`,
        runs: 1,
        modelCalls: 2,
        inputTokens: 100 + 2_000 + 60 + 2_000,
        outputTokens: 40 + 21,
        cacheReadTokens: 2_000,
        cacheWriteTokens: 2_000,
        costMicros: 100 * 3 + 2_000 * 3.75 + 40 * 15 + (60 * 3 + 2_000 * 0.3 + 21 * 15),
      },
    ]);
    await ask(again, "/why details");
    expect(said(world).at(-1)).toContain("4,160 tokens in (2,000 cached), 61 out, 2 model calls, $0.00");
  });

  it("is printed as a table with titles, or as a notice if there is none", async () => {
    const { world, started } = await open();
    const empty = await world.command(["usage"]);
    expect(empty.out).toBe("No usage yet.\n");
    world.script([{ text: "hello", usage: { input: 1_000, output: 10 } }]);
    await ask(started, "hi");
    const table = await world.command(["usage", "--by", "agent", "--days", "2"]);
    const [titles, row, total] = table.out.split("\n");
    expect(titles?.split(/ {2,}/)).toEqual([
      ...["AGENT", "RUNS", "CALLS", "TOKENS IN", "CACHE READ", "CACHE WRITE", "TOKENS OUT", "COST (USD)"],
    ]);
    expect(row?.split(/ {2,}/)).toEqual(["coder", "1", "1", "1000", "0", "0", "10", "0.003150"]);
    expect(total).toMatch(/^Total: 0\.003150 USD\./);
  });
});
