import { describe, expect, it } from "vitest";
import { queue, run } from "../../test/run.ts";
import { assistant, lines, MODEL, scripted, text, tool, toolCall, user } from "../../test/scripted.ts";
import type { AgentLoopConfig, InputSchema, Tool } from "../index.ts";
import { runAgentLoop } from "../index.ts";

const never = (): Promise<never> => new Promise(() => {});

const hanging: InputSchema = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: never,
    // Schema for the model.
    ...{ jsonSchema: { input: () => ({ type: "object" }) } },
  },
};

const calls = assistant([toolCall("a", "t"), toolCall("b", "t", { n: 1 })]);
const open = [user("go"), assistant([toolCall("a", "t")])];

/** Host functions that a run waits for, with the options that make it call them. */
const places: Record<string, { config?: Partial<AgentLoopConfig>; tools?: Tool[]; history?: typeof open }> = {
  "a schema": { tools: [tool("t", "x", { inputSchema: hanging })] },
  "steering at the start": { config: { steering: never } },
  "steering between calls": { config: { steering: hangAt(2) } },
  "steering after a turn": { config: { steering: hangAt(5) } },
  "follow-ups": { config: { followUps: never } },
  "a pending call": { config: { onPendingCall: never }, history: open },
  "the gate": { config: { beforeToolCall: never } },
  "a question": { config: { beforeToolCall: () => ({ action: "ask", question: "?" }), onAsk: never } },
  "the hook after a call": { config: { afterToolCall: never } },
  "the request": { config: { transformContext: never } },
  "a tool": { tools: [tool("t", never)] },
};

function hangAt(poll: number): AgentLoopConfig["steering"] & object {
  let polls = 0;
  return () => (++polls >= poll ? never() : []);
}

describe("a run that must stop", () => {
  it.each(Object.entries(places))("does not wait for %s", async (_name, { config, tools, history }) => {
    for (const stop of ["signal", "wallMs"] as const) {
      const controller = new AbortController();
      if (stop === "signal") setImmediate(() => controller.abort());
      const { result } = await run(
        [calls, "ok"],
        {
          ...config,
          abortGraceMs: 5,
          signal: controller.signal,
          ...(stop === "wallMs" ? { limits: { wallMs: 5 } } : {}),
        },
        { tools: tools ?? [tool("t", "x")], ...(history === undefined ? {} : { history, input: [] }) },
      );
      expect(result).toMatchObject(stop === "signal" ? { reason: "aborted" } : { limit: "wallMs" });
    }
  });

  it("does not wait for its system prompt", async () => {
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    const { stream } = scripted("ok");
    const context = { system: never, history: [], input: [user("go")], tools: [] };
    const result = await runAgentLoop(context, { model: MODEL, stream, signal: controller.signal }, () => {});
    expect(result.reason).toBe("aborted");
  });

  it("continues with queued messages if there is nothing else", async () => {
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    const given = { history: [user("go"), assistant("done")], input: [] };
    const { result, asked } = await run(
      ["ok"],
      { steering: never, abortGraceMs: 5, signal: controller.signal },
      given,
    );
    expect(result.reason).toBe("aborted");
    expect(asked).toHaveLength(0);
  });

  it("keeps messages that a queue returns within the grace period", async () => {
    const controller = new AbortController();
    const steering = queue(1, "late");
    const { result } = await run(["ok"], {
      steering: async () => {
        const given = steering();
        if (given.length > 0) controller.abort();
        await new Promise(setImmediate);
        return given;
      },
      signal: controller.signal,
    });
    expect(result.reason).toBe("aborted");
    expect(result.messages.at(-1)).toMatchObject({ role: "user", content: "late" });
  });

  it("does not show a result that a hook has not replaced yet", async () => {
    const controller = new AbortController();
    const { result } = await run(
      [assistant([toolCall("a", "t")])],
      {
        abortGraceMs: 5,
        signal: controller.signal,
        afterToolCall: () => {
          controller.abort();
          return never();
        },
      },
      { tools: [tool("t", "secret")] },
    );
    expect(JSON.stringify(result.messages)).not.toContain("secret");
  });
});

describe("a tool's time", () => {
  it("times out in a schema that never returns", async () => {
    const t = tool("t", "x", { inputSchema: hanging, timeoutMs: 5 });
    const { asked, result } = await run([assistant([toolCall("a", "t")]), "ok"], {}, { tools: [t] });
    expect(result.reason).toBe("done");
    expect(lines(asked[1]?.messages ?? []).at(-1)).toBe(
      'result#a: "t" did not finish within 5 ms and was stopped.',
    );
  });

  it("accepts a timeout longer than the longest timer", async () => {
    const slow = tool("t", async () => text(await new Promise((resolve) => setImmediate(resolve, "x"))), {
      timeoutMs: 1e12,
    });
    const { result } = await run(
      [assistant([toolCall("a", "t")]), "ok"],
      { limits: { wallMs: 1e12 } },
      { tools: [slow] },
    );
    expect(result).toMatchObject({ reason: "done", text: "ok" });
  });
});
