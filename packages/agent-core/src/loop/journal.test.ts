import { describe, expect, it } from "vitest";
import { queue } from "../../test/run.ts";
import {
  assistant,
  collect,
  MODEL,
  SYSTEM,
  scripted,
  text,
  tool,
  toolCall,
  user,
} from "../../test/scripted.ts";
import type { JournalEntry } from "../index.ts";
import { agentLoop, runAgentLoop } from "../index.ts";

describe("onJournalEntry", () => {
  it("has stored each message before the next effect", async () => {
    const log: string[] = [];
    const entries: JournalEntry[] = [];
    const t = tool("t", async (call) => {
      log.push(`tool ${call.id}`);
      return text("ok");
    });
    const model = scripted(
      () => {
        log.push("model 1");
        return assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })]);
      },
      () => {
        log.push("model 2");
        return assistant("done");
      },
    );
    await runAgentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [t] },
      {
        model: MODEL,
        stream: model.stream,
        onJournalEntry: async (entry) => {
          await new Promise(setImmediate);
          const open = entry.pendingToolCalls.map((call) => call.id).join("");
          log.push(`kept ${entry.kind}${open === "" ? "" : ` (${open} open)`}`);
          entries.push(entry);
        },
      },
      (event) => {
        if (event.type === "message") log.push(`shown ${event.message.role}`);
      },
    );
    expect(log).toEqual([
      "kept input",
      "shown user",
      "model 1",
      "kept assistant (ab open)",
      "shown assistant",
      "kept toolStart (ab open)",
      "tool a",
      "kept toolResult (b open)",
      "kept toolStart (b open)",
      "tool b",
      "kept toolResult",
      "shown toolResult",
      "shown toolResult",
      "model 2",
      "kept assistant",
      "shown assistant",
    ]);
    expect(entries.flatMap((entry) => entry.messages).map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
    ]);
  });

  it("lists the calls without a result in order, however parallel calls end", async () => {
    const calls = Array.from({ length: 40 }, (_, i) =>
      toolCall(`c${i}`, i % 13 === 5 ? "other" : "t", { i }),
    );
    let at = 7;
    const t = tool(
      "t",
      async () => {
        at = (at * 31) % 97;
        for (let i = 0; i < at % 9; i++) await undefined;
        return text("ok");
      },
      { execution: "parallel" },
    );
    const done = new Set<string>();
    const entries: string[] = [];
    await runAgentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [t, tool("other", "ok")] },
      {
        model: MODEL,
        stream: scripted(assistant(calls), "done").stream,
        parallelCalls: 7,
        onJournalEntry: (entry) => {
          if (entry.kind !== "toolStart" && entry.kind !== "toolResult") return;
          if (entry.kind === "toolResult") done.add(entry.message.toolCallId);
          entries.push(entry.kind);
          const open = calls.filter((call) => !done.has(call.id)).map((call) => call.id);
          expect(entry.pendingToolCalls.map((call) => call.id)).toEqual(open);
        },
      },
      () => {},
    );
    expect(entries).toHaveLength(80);
  });

  it.each(["input", "assistant", "toolStart", "toolResult"] as const)(
    "that fails at %s lets nothing happen after it",
    async (kind) => {
      const effects: string[] = [];
      const t = tool("t", async () => {
        effects.push("tool");
        return text("ok");
      });
      const loop = agentLoop(
        { system: SYSTEM, history: [], input: [user("go")], tools: [t] },
        {
          model: MODEL,
          stream: scripted(() => {
            effects.push("model");
            return assistant([toolCall("a", "t")]);
          }).stream,
          onJournalEntry: (entry) => {
            if (entry.kind === kind) throw new Error("disk full");
          },
        },
      );
      const events: string[] = [];
      await expect(
        (async () => {
          for await (const event of loop) events.push(event.type);
        })(),
      ).rejects.toMatchObject({ code: "journal_failed" });
      await expect(loop.result()).rejects.toMatchObject({ code: "journal_failed" });
      expect(events.at(-1)).toBe("run.end");
      const done = { input: [], assistant: ["model"], toolStart: ["model"], toolResult: ["model", "tool"] };
      expect(effects).toEqual(done[kind]);
    },
  );
});

describe("events", () => {
  it("are emitted in the documented order around tools", async () => {
    const loop = agentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [tool("t", "ok")] },
      {
        model: MODEL,
        stream: scripted(assistant([toolCall("a", "t")]), "done").stream,
        steering: queue(2, "hm"),
      },
    );
    const types = (await collect(loop)).map((event) => event.type);
    expect(types).toEqual([
      "run.start",
      "message",
      "turn.start",
      "model.start",
      "block.start",
      "tool.delta",
      "block.end",
      "message",
      "tool.start",
      "tool.end",
      "message",
      "turn.end",
      "message",
      "turn.start",
      "model.start",
      "block.start",
      "text.delta",
      "text.delta",
      "block.end",
      "message",
      "turn.end",
      "run.end",
    ]);
  });
});
