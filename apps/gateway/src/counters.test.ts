import { describe, expect, it } from "vitest";
import { createCounters } from "./counters.ts";
import { createHooks } from "./hooks.ts";
import { createLogger } from "./log.ts";

const PLACE = { agentId: "main", sessionKey: "s" };
const call = (tool: string) => ({
  ...PLACE,
  runId: "r",
  tool,
  callId: "c",
  args: {},
  outcome: "ok" as const,
  text: "",
  durationMs: 1,
});

function setup() {
  const counters = createCounters();
  const hooks = createHooks(
    [],
    createLogger("error", (text) => text),
    counters.hooks,
  );
  return { counters, hooks };
}

describe("counters", () => {
  it("count what the hook points tell", async () => {
    const { counters, hooks } = setup();
    const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 3 };
    const ended = { ...PLACE, runId: "r", messageIds: [], error: undefined };
    hooks.observe("run_end", { ...ended, outcome: "replied", usage });
    hooks.observe("run_end", { ...ended, outcome: "replied", usage });
    hooks.observe("run_end", { ...ended, outcome: "failed", usage: undefined });
    hooks.observe("after_tool_call", call("read"));
    await hooks.idle();
    const text = counters.text();
    expect(text).toContain('signalbox_runs_total{outcome="replied"} 2\n');
    expect(text).toContain('signalbox_runs_total{outcome="failed"} 1\n');
    expect(text).toContain('signalbox_tokens_total{kind="input"} 20\n');
    expect(text).toContain('signalbox_tokens_total{kind="output"} 6\n');
    expect(text).toContain('signalbox_tool_calls_total{tool="read",outcome="ok"} 1\n');
  });

  it("have no series for tools that have never worked", async () => {
    const { counters, hooks } = setup();
    hooks.observe("after_tool_call", { ...call("made_up"), outcome: "error" });
    hooks.observe("after_tool_call", call("read"));
    hooks.observe("after_tool_call", { ...call("read"), outcome: "error" });
    await hooks.idle();
    const text = counters.text();
    expect(text).not.toContain("made_up");
    expect(text).toContain('{tool="other",outcome="error"} 1\n');
    expect(text).toContain('{tool="read",outcome="error"} 1\n');
  });

  it("keep their format and their size, whatever a model calls its tools", async () => {
    const { counters, hooks } = setup();
    hooks.observe("after_tool_call", call('a"} 7\n\\evil{x="'));
    for (let index = 0; index < 1_000; index++) hooks.observe("after_tool_call", call(`tool${index}`));
    await hooks.idle();
    const lines = counters
      .text()
      .split("\n")
      .filter((line) => line.startsWith("signalbox_tool_calls_total"));
    expect(lines[0]).toBe('signalbox_tool_calls_total{tool="a\\"} 7\\n\\\\evil{x=\\"",outcome="ok"} 1');
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toBe('signalbox_tool_calls_total{tool="other",outcome="other"} 801');
  });
});
