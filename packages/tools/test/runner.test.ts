import type { BeforeToolCall, JsonObject, Tool, ToolResult } from "@signalbox/agent-core";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import {
  type Approvals,
  type CurrentRights,
  createApprovals,
  createRunState,
  createToolRunner,
  type DecisionRecord,
  defineTool,
  fromTool,
  type RunFacts,
  type ToolDefinition,
  type ToolPolicy,
} from "../src/index.ts";
import type { ForRunOptions } from "../src/runner.ts";
import type { Claim, Permit } from "../src/types.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, FACTS, textOf } from "./harness.ts";

let ran: { args: unknown; permit: Permit }[];
let claims: readonly Claim[];
let probe: ToolDefinition;

beforeEach(() => {
  ran = [];
  claims = [];
  probe = defineTool({
    name: "probe",
    description: "Looks.",
    inputSchema: z.object({ what: z.string() }),
    effects: "external",
    claims: () => claims,
    async run({ args }, _context, permit) {
      ran.push({ args, permit });
      return { content: [{ type: "text", text: `did ${args.what}` }] };
    },
  });
});

/** Provides the steps of a call in the agent loop: `beforeToolCall`, `onAsk` if approval is needed, then the tool. */
async function asLoop(
  policy: ToolPolicy,
  options: {
    facts?: Partial<RunFacts>;
    approvals?: Approvals;
    records?: DecisionRecord[];
    getCurrentRights?: ForRunOptions["getCurrentRights"];
  } = {},
) {
  const state = createRunState({ ...FACTS, ...options.facts });
  const runner = createToolRunner({
    tools: [probe],
    policy,
    record: (record) => {
      options.records?.push(record);
    },
    ...(options.approvals === undefined ? {} : { approvals: options.approvals }),
  });
  const { getCurrentRights } = options;
  const run = runner.forRun(state, getCurrentRights === undefined ? {} : { getCurrentRights });
  const signal = new AbortController().signal;
  const info = (tool: Tool, args: JsonObject): Parameters<BeforeToolCall>[0] => ({
    call: { type: "toolCall", id: "c1", name: tool.name, args, argsText: JSON.stringify(args) },
    tool,
    args,
    message: {
      role: "assistant",
      content: [],
      api: "a",
      provider: "p",
      model: "m",
      stopReason: "tool_use",
      timestamp: 0,
    },
    turn: 1,
    signal,
  });
  const execute = (tool: Tool, args: unknown): Promise<ToolResult> =>
    tool.execute({ id: "c1", name: tool.name, args }, { signal, resultChars: 16_000, update: () => {} });
  return { run, state, info, execute };
}

describe("the implementation of a tool", () => {
  test("cannot be reached from a definition", () => {
    expect(Object.keys(probe).sort()).toEqual(["description", "effects", "inputSchema", "name"]);
    expect(Object.values(probe).filter((value) => typeof value === "function")).toEqual([]);
    const fake = { name: "probe", description: "", inputSchema: {}, effects: "none" as const, run: () => {} };
    expect(() => createToolRunner({ tools: [fake], policy: {}, record: () => {} })).toThrow(
      "not created by defineTool",
    );
    expect(() => createToolRunner({ tools: [probe, probe], policy: {}, record: () => {} })).toThrow(
      "two tools",
    );
  });

  test("runs after its decision was recorded", async () => {
    const order: string[] = [];
    const tool = defineTool({
      name: "t",
      description: "",
      inputSchema: {},
      effects: "none",
      async run() {
        order.push("body");
        return { content: [] };
      },
    });
    const runner = createToolRunner({
      tools: [tool],
      policy: {},
      record: async ({ decision }) => {
        await Promise.resolve();
        order.push(decision);
      },
    });
    const run = runner.forRun(createRunState(FACTS));
    await run.call("t", {}, { callId: "1", signal: new AbortController().signal });
    expect(order).toEqual(["allow", "body"]);
  });

  test("does not run if the decision cannot be recorded or the claims fail", async () => {
    const runner = createToolRunner({
      tools: [probe],
      policy: {},
      record: () => Promise.reject(new Error("disk full")),
    });
    const run = runner.forRun(createRunState(FACTS));
    const signal = new AbortController().signal;
    expect(textOf(await run.call("probe", { what: "x" }, { callId: "1", signal }))).toBe("disk full");
    const broken = defineTool({
      name: "broken",
      description: "",
      inputSchema: {},
      effects: "none",
      claims: () => {
        throw new Error("no idea");
      },
      async run(_call, _context, permit) {
        ran.push({ args: {}, permit });
        return { content: [] };
      },
    });
    const agent = caller([broken]);
    expect(textOf(await agent.call("broken", {}))).toContain("no idea");
    expect(agent.records).toMatchObject([{ decision: "deny", rule: "claims_failed" }]);
    expect(ran).toEqual([]);
  });

  test("a denied call is recorded and does not run", async () => {
    const agent = caller([probe], { policy: { allow: ["read"] } });
    expect(await agent.call("probe", { what: "x" })).toMatchObject({ isError: true });
    expect(agent.records).toMatchObject([
      {
        decision: "deny",
        rule: "agent_allow",
        tool: "probe",
        role: "member",
        channelKind: "direct",
        taint: [],
        callId: "call_1",
      },
    ]);
    expect(ran).toEqual([]);
  });

  test("unknown tools and invalid arguments are refused before a decision", async () => {
    const agent = caller([probe]);
    expect(textOf(await agent.call("nope", {}))).toBe("There is no tool called nope.");
    expect(textOf(await agent.call("probe", { what: 1 }))).toContain("not valid");
    expect(agent.records).toEqual([]);
  });

  test("an exception becomes a failed result", async () => {
    const failing = defineTool({
      name: "f",
      description: "",
      inputSchema: {},
      effects: "none",
      run: () => Promise.reject(new Error("broke")),
    });
    expect(await caller([failing]).call("f", {})).toMatchObject({
      isError: true,
      content: [{ text: "broke" }],
    });
  });
});

test.each<[string, unknown, ToolResult]>([
  ["an object", { key: "secret" }, { content: [{ type: "text", text: '{"key":"[redacted]"}' }] }],
  ["a text", "the secret", { content: [{ type: "text", text: "the [redacted]" }] }],
  [
    "a result",
    { content: [{ type: "text", text: "the secret" }], details: { key: "secret" } },
    { content: [{ type: "text", text: "the [redacted]" }], details: { key: "[redacted]" } },
  ],
])("a tool may return %s, and secrets are removed from it", async (_, output, expected) => {
  const tool = fromTool({
    name: "plugin",
    description: "Returns anything.",
    inputSchema: {},
    effects: "none",
    execute: async () => JSON.parse(JSON.stringify(output)),
  });
  const runner = createToolRunner({
    tools: [tool],
    policy: {},
    record: () => {},
    cleanText: (text) => text.replaceAll("secret", "[redacted]"),
  });
  const run = runner.forRun(createRunState(FACTS));
  const { signal } = new AbortController();
  expect(await run.call("plugin", {}, { callId: "1", signal })).toEqual(expected);
  const [offered] = run.tools;
  const context = { signal, resultChars: 16_000, update: () => {} };
  expect(await offered?.execute({ id: "2", name: "plugin", args: {} }, context)).toEqual(expected);
});

describe("in the loop", () => {
  test("each call has one decision and one record", async () => {
    const records: DecisionRecord[] = [];
    const { run, info, execute } = await asLoop({ allow: ["*"] }, { records });
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    expect(await run.beforeToolCall(info(tool, { what: "x" }))).toEqual({ action: "allow" });
    expect(textOf(await execute(tool, { what: "x" }))).toBe("did x");
    expect(records).toHaveLength(1);
    expect(Object.isFrozen(records[0])).toBe(true);
  });

  test("a permit is valid for one run with the decided arguments", async () => {
    const records: DecisionRecord[] = [];
    const { run, info, execute } = await asLoop({ allow: ["*"] }, { records });
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    await run.beforeToolCall(info(tool, { what: "x" }));
    await execute(tool, { what: "y" });
    await execute(tool, { what: "x" });
    expect(records).toHaveLength(3);
  });

  test("a call is decided again if its run was tainted after the decision", async () => {
    claims = [{ kind: "message_elsewhere", detail: "slack C1" }];
    const records: DecisionRecord[] = [];
    const { run, info, execute, state } = await asLoop(
      { allow: ["*"] },
      { records, facts: { role: "owner" } },
    );
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    expect(await run.beforeToolCall(info(tool, { what: "x" }))).toEqual({ action: "allow" });
    state.taint({ source: "web", detail: "https://x.test" });
    expect(await execute(tool, { what: "x" })).toMatchObject({ isError: true });
    expect(ran).toEqual([]);
    expect(records.map((record) => record.decision)).toEqual(["allow", "deny"]);
  });

  test.each<[string, CurrentRights | undefined]>([
    ["the agent may not use it any more", { policy: { allow: ["ls"] }, role: "owner" }],
    ["the speaker is a guest by now", { policy: { allow: ["*"] }, role: "guest" }],
    ["the speaker may ask for nothing any more", undefined],
  ])("a call is decided again with the rights at its start: %s", async (_, later) => {
    let current: CurrentRights | undefined = { policy: { allow: ["*"] }, role: "owner" };
    const { run, info, execute } = await asLoop(
      { allow: ["*"] },
      { facts: { role: "owner" }, getCurrentRights: async () => current },
    );
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    const asked = info(tool, { what: "x" });
    expect(await run.beforeToolCall(asked)).toEqual({ action: "allow" });
    current = later;
    expect(await execute(tool, { what: "x" })).toMatchObject({ isError: true });
    expect(await run.beforeToolCall(asked)).toMatchObject({ action: "block" });
    expect(ran).toEqual([]);
  });

  test("a wider policy does not extend the rights of a running run", async () => {
    const wider: CurrentRights = { policy: { allow: ["*"] }, role: "owner" };
    const { run, execute } = await asLoop({ ask: ["probe"] }, { getCurrentRights: async () => wider });
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    expect(await execute(tool, { what: "x" })).toMatchObject({ isError: true });
    expect(ran).toEqual([]);
  });

  test("does not offer tools that the run can never use", async () => {
    expect((await asLoop({ allow: ["read"] })).run.tools).toEqual([]);
    expect((await asLoop({ allow: ["*"] }, { facts: { role: "guest" } })).run.tools).toEqual([]);
    expect((await asLoop({ ask: ["probe"] })).run.tools).toHaveLength(1);
  });
});

describe("approvals", () => {
  test("a call waits for its approval and then runs once", async () => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const records: DecisionRecord[] = [];
    const { run, info, execute } = await asLoop({ ask: ["probe"] }, { approvals, records });
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    const asked = await run.beforeToolCall(info(tool, { what: "x" }));
    if (asked?.action !== "ask") throw new Error("not asked");
    expect(asked.details).toMatchObject({ tool: "probe", action: '{"what":"x"}' });
    const answer = run.onAsk({
      ...info(tool, { what: "x" }),
      question: asked.question,
      details: asked.details ?? {},
    });
    await approvals.resolve(String(asked.details?.["approvalId"]), "allow", "feishu:ou_owner");
    expect(await answer).toEqual({ action: "allow" });
    expect(textOf(await execute(tool, { what: "x" }))).toBe("did x");
    expect(ran[0]?.permit.approved).toBe(true);
    expect(records.map((record) => record.decision)).toEqual(["ask", "allow"]);
    expect(records[1]?.rule).toMatch(/^approval:/);
    expect(await execute(tool, { what: "x" })).toMatchObject({ isError: true });
    expect(ran).toHaveLength(1);
  });

  test("a denied call returns the reason", async () => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const { run, info } = await asLoop({ ask: ["probe"] }, { approvals });
    const [tool] = run.tools;
    if (tool === undefined) throw new Error("no tool");
    const asked = await run.beforeToolCall(info(tool, { what: "x" }));
    if (asked?.action !== "ask") throw new Error("not asked");
    await approvals.resolve(String(asked.details?.["approvalId"]), "deny", "owner");
    const answer = await run.onAsk({
      ...info(tool, { what: "x" }),
      question: asked.question,
      details: asked.details ?? {},
    });
    expect(answer).toEqual({ action: "deny", reason: "The approval was denied." });
    expect(await run.onAsk({ ...info(tool, { what: "x" }), question: "" })).toMatchObject({ action: "deny" });
  });

  test("an approval does not cover other arguments", async () => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const agent = caller([probe], { policy: { ask: ["probe"] }, approvals });
    expect(textOf(await agent.call("probe", { what: "x" }))).toContain("has not run");
    const [open] = await approvals.list();
    await approvals.resolve(open?.id ?? "", "allow", "owner");
    expect(await agent.call("probe", { what: "y" })).toMatchObject({ isError: true });
    expect(textOf(await agent.call("probe", { what: "x" }))).toBe("did x");
    expect(await agent.call("probe", { what: "x" })).toMatchObject({ isError: true });
    expect(ran.map((each) => each.args)).toEqual([{ what: "x" }]);
  });

  test("a call that needs approval is denied if nobody can approve it", async () => {
    const agent = caller([probe], { policy: { ask: ["probe"] } });
    expect(textOf(await agent.call("probe", { what: "x" }))).toContain("Nobody can approve it here");
    expect(agent.records).toMatchObject([{ decision: "deny" }]);
  });
});

test("a tool with untrusted results taints the run", async () => {
  const fetching = defineTool({
    name: "fetch",
    description: "",
    inputSchema: {},
    effects: "none",
    taints: "web",
    run: async () => ({ content: [{ type: "text", text: "page" }] }),
  });
  claims = [{ kind: "schedule", detail: "every day" }];
  const agent = caller([fetching, probe], { facts: { role: "owner" } });
  expect(textOf(await agent.call("probe", { what: "x" }))).toBe("did x");
  await agent.call("fetch", {});
  expect(agent.state.facts.taint).toEqual([{ source: "web", detail: "fetch" }]);
  expect(await agent.call("probe", { what: "x" })).toMatchObject({ isError: true });
});

test("a completed call leaves no timers behind", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stop = new AbortController();
  expect(textOf(await caller([probe]).call("probe", { what: "it" }, stop.signal))).toBe("did it");
  stop.abort();
  expect(vi.getTimerCount()).toBe(0);
});
