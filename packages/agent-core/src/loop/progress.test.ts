import { describe, expect, it } from "vitest";
import { assistant, MODEL, SYSTEM, scripted, text, tool, toolCall, user } from "../../test/scripted.ts";
import type { AgentEvent, EmitEvent } from "../index.ts";
import { Agent, runAgentLoop } from "../index.ts";

const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A slow listener for a call that reports progress 50,000 times. */
function slow(): { listener: EmitEvent; most: () => number; seen: AgentEvent[] } {
  const seen: AgentEvent[] = [];
  let busy = 0;
  let most = 0;
  return {
    seen,
    most: () => most,
    listener: async (event) => {
      seen.push(event);
      most = Math.max(most, ++busy);
      await moment();
      busy--;
    },
  };
}

const flood = tool("t", async (_call, context) => {
  for (let i = 0; i < 50_000; i++) context.update(text(`update ${i}`));
  await moment();
  await moment();
  await moment();
  return text("x");
});

const updates = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === "tool.update" ? JSON.stringify(event.partial) : []));

describe("a tool that reports faster than viewers read", () => {
  it("delivers one event at a time to a slow listener, always the latest", async () => {
    const model = scripted(assistant([toolCall("a", "t")]), "ok");
    const viaAgent = slow();
    const agent = new Agent({ model: MODEL, stream: model.stream, system: SYSTEM, tools: [flood] });
    agent.subscribe(viaAgent.listener);
    await agent.prompt("go");
    const viaEmit = slow();
    await runAgentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [flood] },
      { model: MODEL, stream: scripted(assistant([toolCall("a", "t")]), "ok").stream },
      viaEmit.listener,
    );
    for (const { most, seen } of [viaAgent, viaEmit]) {
      expect(most()).toBe(1);
      expect(updates(seen)).toEqual([JSON.stringify(text("update 0")), JSON.stringify(text("update 49999"))]);
      const types = seen.map((event) => event.type);
      expect(types.lastIndexOf("tool.update")).toBeLessThan(types.indexOf("tool.end"));
    }
  });

  it("queues no more events for a slow iteration than its limit", async () => {
    const model = scripted(assistant([toolCall("a", "t")]), "ok");
    const agent = new Agent({ model: MODEL, stream: model.stream, system: SYSTEM, tools: [flood] });
    const seen: AgentEvent[] = [];
    for await (const event of agent.prompt("go")) {
      seen.push(event);
      await moment();
    }
    expect(updates(seen).length).toBeLessThanOrEqual(256);
    expect(seen.at(-1)).toMatchObject({ type: "run.end", result: { reason: "done" } });
  });

  it("does not get a listener's error; the run does", async () => {
    for (const wait of [true, false]) {
      let ran = 0;
      const t = tool("t", async (_call, context) => {
        for (let i = 0; i < 3; i++) context.update(text("x"));
        await moment();
        ran++;
        return text("x");
      });
      const loop = runAgentLoop(
        { system: SYSTEM, history: [], input: [user("go")], tools: [t] },
        { model: MODEL, stream: scripted(assistant([toolCall("a", "t")]), "ok").stream },
        (event) => {
          if (event.type !== "tool.update") return undefined;
          if (!wait) throw new Error("listener");
          return Promise.reject(new Error("listener"));
        },
      );
      await expect(loop).rejects.toMatchObject({ code: "hook_failed", message: "listener" });
      expect(ran).toBe(1);
    }
  });
});
