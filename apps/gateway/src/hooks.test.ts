import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { plainMessage } from "../test/plain-channel.ts";
import type { GatewayHook } from "./hook-points.ts";
import { createHooks, type Hooks } from "./hooks.ts";
import { createLogger } from "./log.ts";

const PLACE = { agentId: "main", sessionKey: "agent:main:main" };
const CALL = { ...PLACE, tool: "exec", callId: "c1", args: { command: "ls" } };
const ENDED = {
  ...PLACE,
  runId: "r1",
  messageIds: ["m1"],
  outcome: "replied",
  usage: undefined,
  error: undefined,
} as const;
const EVENT = plainMessage("m", "hello");
const REPLY = { ...PLACE, event: EVENT, source: "turn", text: "a" } as const;

function setup(hooks: readonly GatewayHook[]): { hooks: Hooks; log: () => string } {
  let log = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk);
      done();
    },
  });
  return {
    hooks: createHooks(
      hooks,
      createLogger("trace", (text) => text, sink),
    ),
    log: () => log,
  };
}

const never = () => new Promise<never>(() => {});

describe("observers", () => {
  it("run side by side, and nothing waits for them", async () => {
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const { hooks } = setup([
      { point: "run_end", name: "slow", run: () => gate.promise.then(() => void seen.push("slow")) },
      { point: "run_end", name: "quick", run: ({ runId }) => void seen.push(runId) },
    ]);
    hooks.observe("run_end", ENDED);
    expect(seen).toEqual(["r1"]);
    gate.resolve();
    await hooks.idle();
    expect(seen).toEqual(["r1", "slow"]);
  });

  it("may fail or be late: that is logged by name", async () => {
    const { hooks, log } = setup([
      {
        point: "run_end",
        name: "broken",
        run: () => {
          throw new Error("out of order");
        },
      },
      { point: "run_end", name: "late", timeoutMs: 5, run: never },
    ]);
    hooks.observe("run_end", ENDED);
    await hooks.idle();
    expect(log()).toMatch(/broken.*out of order/);
    expect(log()).toMatch(/late.*longer than 5 ms/);
  });
});

describe("modifiers", () => {
  const adds = (name: string, more: string): GatewayHook => ({
    point: "before_reply",
    name,
    run: ({ text }) => ({ text: text + more }),
  });

  it("run one after the other, each on what the one before left", async () => {
    const quiet: GatewayHook = { point: "before_reply", name: "quiet", run: () => undefined };
    const { hooks } = setup([adds("first", "b"), quiet, adds("second", "c")]);
    expect((await hooks.modify("before_reply", REPLY)).text).toBe("abc");
  });

  it("that fail or are late change nothing", async () => {
    const { hooks, log } = setup([
      { point: "before_reply", name: "broken", run: () => Promise.reject(new Error("no")) },
      { point: "before_reply", name: "late", timeoutMs: 5, run: never },
      adds("last", "z"),
    ]);
    expect(await hooks.modify("before_reply", REPLY)).toEqual({ ...REPLY, text: "az" });
    expect(log()).toContain("broken");
    expect(log()).toContain("late");
  });
});

describe("what hooks are given and return", () => {
  it("is a copy of their own that cannot be changed", async () => {
    const seen: string[] = [];
    const scribbling: GatewayHook = {
      point: "before_reply",
      name: "scribbler",
      run: ({ event }) => {
        expect(Reflect.set(event, "text", "something else")).toBe(false);
        expect(Reflect.set(event.sender, "id", "the owner")).toBe(false);
        Object.assign(event.media, ["more"]);
        return { text: "scribbled" };
      },
    };
    const { hooks, log } = setup([
      scribbling,
      {
        point: "before_reply",
        name: "reader",
        run: ({ event }) => void seen.push(`${event.text} ${event.sender.id} ${event.media.length}`),
      },
    ]);
    expect(await hooks.modify("before_reply", REPLY)).toEqual(REPLY);
    expect(seen).toEqual(["hello anna 0"]);
    expect(log()).toMatch(/scribbler/);
  });

  it.each([7, { text: 7 }, "text", [], { text: null }])(
    "counts for nothing when it is %j",
    async (returned) => {
      const text = JSON.stringify(returned);
      const { hooks, log } = setup([{ point: "before_reply", name: "odd", run: () => JSON.parse(text) }]);
      expect(await hooks.modify("before_reply", REPLY)).toEqual(REPLY);
      expect(log()).toMatch(/odd.*cannot be used/);
    },
  );

  it("has no say in what a point does not let it change", async () => {
    const more = { text: "b", source: "command", agentId: "other" };
    const { hooks } = setup([{ point: "before_reply", name: "more", run: () => more }]);
    expect(await hooks.modify("before_reply", REPLY)).toEqual({ ...REPLY, text: "b" });
  });

  it("keeps what the gateway needs to be whole", async () => {
    const section = { name: "a", title: "A", text: "a", part: "volatile" } as const;
    const { hooks } = setup([
      { point: "before_prompt_build", name: "twice", run: () => ({ extra: [section, section] }) },
      { point: "before_prompt_build", name: "once", run: ({ extra }) => ({ extra: [...extra, section] }) },
    ]);
    const asked = { ...PLACE, event: EVENT, pages: [], files: [], model: "a/b", instructions: undefined };
    expect((await hooks.modify("before_prompt_build", { ...asked, extra: [] })).extra).toEqual([section]);
  });
});

describe("gates", () => {
  const gate = (run: Extract<GatewayHook, { point: "before_tool_call" }>["run"]): GatewayHook => ({
    point: "before_tool_call",
    name: "guard",
    timeoutMs: 5,
    run,
  });

  it("let pass what nobody denies, and stop at the first denial", async () => {
    const asked: string[] = [];
    const notes = (name: string): GatewayHook =>
      gate(() => {
        asked.push(name);
        return undefined;
      });
    const { hooks } = setup([
      notes("first"),
      gate(({ tool }) => (tool === "exec" ? { action: "deny", reason: "no commands" } : { action: "allow" })),
      notes("third"),
    ]);
    expect(await hooks.gate("before_tool_call", CALL)).toEqual({ action: "deny", reason: "no commands" });
    expect(asked).toEqual(["first"]);
    expect(await hooks.gate("before_tool_call", { ...CALL, tool: "ls" })).toEqual({ action: "allow" });
    expect(asked).toEqual(["first", "first", "third"]);
  });

  it.each<[string, GatewayHook]>([
    [
      "throws",
      gate(() => {
        throw new Error("broken");
      }),
    ],
    ["rejects", gate(() => Promise.reject(new Error("broken")))],
    ["is late", gate(never)],
    // What a program without types may say.
    ["says something else", gate(() => JSON.parse('{"action":"maybe"}'))],
  ])("deny when one %s", async (_what, hook) => {
    const { hooks } = setup([hook]);
    expect(await hooks.gate("before_tool_call", CALL)).toMatchObject({ action: "deny" });
  });
});

it("refuses a hook at a point that does not exist", () => {
  const hook = JSON.parse('{"point":"before_lunch","name":"x"}');
  expect(() =>
    createHooks(
      [hook],
      createLogger("silent", (text) => text),
    ),
  ).toThrow("before_lunch");
});
