import { describe, expect, it } from "vitest";
import { run } from "../../test/run.ts";
import { assistant, lines, MODEL, SYSTEM, scripted, tool, toolCall, user } from "../../test/scripted.ts";
import type { AgentMessage } from "../index.ts";
import { convertToLlm, runAgentLoop } from "../index.ts";

describe("the request", () => {
  it("passes through transformContext each turn without changing the history", async () => {
    const turns: unknown[] = [];
    const { result, asked } = await run(
      [assistant([toolCall("a", "t")]), "done"],
      {
        transformContext: (messages, info) => {
          turns.push([info.turn, info.runStart]);
          return messages.map((message, index) =>
            index === info.runStart && message.role === "user"
              ? { ...message, content: `[from Ann] ${String(message.content)}` }
              : message,
          );
        },
      },
      { history: [user("earlier"), assistant("yes")], tools: [tool("t", "ok")] },
    );
    expect(turns).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(lines(asked[1]?.messages ?? [])[0]).toBe("user: earlier");
    expect(lines(asked[1]?.messages ?? [])[2]).toBe("user: [from Ann] go");
    expect(result.messages[0]).toMatchObject({ content: "go" });
  });

  it("accepts a transformContext that is a method", async () => {
    class Host {
      readonly model = MODEL;
      readonly stream = scripted("done").stream;
      readonly note = "[noted] ";

      transformContext(messages: readonly AgentMessage[]): readonly AgentMessage[] {
        return messages.map((message) =>
          message.role === "user" ? { ...message, content: this.note + message.content } : message,
        );
      }
    }
    const { reason } = await runAgentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [] },
      new Host(),
      () => {},
    );
    expect(reason).toBe("done");
  });

  it("is never sent once the run must stop", async () => {
    for (let ticks = 0; ticks < 30; ticks++) {
      const stop = new AbortController();
      const late: boolean[] = [];
      const model = scripted("done");
      await run([], {
        signal: stop.signal,
        abortGraceMs: 0,
        transformContext: async (messages) => {
          void (async () => {
            for (let tick = 0; tick < ticks; tick++) await undefined;
            stop.abort();
          })();
          return messages;
        },
        stream(...asked) {
          late.push(stop.signal.aborted);
          return model.stream(...asked);
        },
      });
      expect(late, `${ticks} ticks`).not.toContain(true);
    }
  });

  it("is valid whatever transformContext returns", async () => {
    const { asked } = await run(
      [assistant([toolCall("a", "t")]), "done"],
      { transformContext: (messages) => messages.slice(1) },
      { tools: [tool("t", "ok")] },
    );
    expect(asked[0]?.messages).toMatchObject([{ role: "user", content: "(Go on.)" }]);
    expect(asked[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "toolResult"]);
  });

  it("omits and rewrites messages by convertToLlm, called once per message", async () => {
    const seen: string[] = [];
    const { asked } = await run(
      [assistant([toolCall("a", "t")]), "done"],
      {
        convertToLlm: (message) => {
          seen.push(message.role);
          if (message.role === "custom") return undefined;
          if (message.role === "compactionSummary") return user(`So far: ${message.summary}`);
          return convertToLlm(message);
        },
      },
      {
        history: [
          { role: "custom", kind: "private", content: "hidden", timestamp: 1 },
          { role: "compactionSummary", summary: "They met.", replaced: 4, timestamp: 1 },
        ],
        tools: [tool("t", "ok")],
      },
    );
    expect(lines(asked[1]?.messages ?? [])).toEqual([
      "user: So far: They met.",
      "user: go",
      "assistant: →t#a",
      "result#a: ok",
    ]);
    expect(seen.filter((role) => role === "compactionSummary")).toHaveLength(1);
  });

  it("contains the system prompt of the turn", async () => {
    const model = scripted(assistant([toolCall("a", "t")]), "done");
    await runAgentLoop(
      {
        system: (turn) => ({ stable: `turn ${turn}` }),
        history: [],
        input: [user("go")],
        tools: [tool("t", "ok")],
      },
      { model: MODEL, stream: model.stream },
      () => {},
    );
    expect(model.asked.map((asked) => asked.context.system.stable)).toEqual(["turn 1", "turn 2"]);
  });

  it("contains the same object for the same tool in every run", async () => {
    const t = tool("t", "ok");
    const first = await run(["a"], {}, { tools: [t] });
    const second = await run(["b"], {}, { tools: [t] });
    expect(first.asked[0]?.context.tools[0]).toBe(second.asked[0]?.context.tools[0]);
  });

  it("contains call ids that are unique in the conversation", async () => {
    const { asked, result } = await run(
      [assistant([toolCall("call_0", "t")]), assistant([toolCall("call_0", "t", { x: 1 })]), "done"],
      {},
      { tools: [tool("t", "ok")] },
    );
    const ids = asked[2]?.messages.flatMap((message) =>
      message.role === "toolResult" ? [message.toolCallId] : [],
    );
    expect(ids).toEqual(["call_0", "call_0_2"]);
    expect(result.reason).toBe("done");
  });
});
