import { describe, expect, it } from "vitest";
import type { Turn } from "../test/scripted.ts";
import { assistant, lines, MODEL, SYSTEM, scripted, text, tool, toolCall, user } from "../test/scripted.ts";
import type { AgentEvent, AgentOptions, Message } from "./index.ts";
import { Agent } from "./index.ts";
import { SCRIPTED_MODEL, scriptedModel } from "./test/index.ts";

function agent(turns: readonly Turn[], options: Partial<AgentOptions> = {}) {
  const model = scripted(...turns);
  return {
    agent: new Agent({ model: MODEL, stream: model.stream, system: SYSTEM, ...options }),
    asked: model.asked,
  };
}

/** Resolves at the next event of this type. */
function next(watched: Agent, type: AgentEvent["type"]): Promise<AgentEvent> {
  return new Promise((resolve) => {
    const off = watched.subscribe((event) => {
      if (event.type !== type) return;
      off();
      resolve(event);
    });
  });
}

const requests = (asked: readonly { messages: readonly Message[] }[]): string[][] =>
  asked.map((request) => lines(request.messages));

describe("Agent", () => {
  it.each([
    ["a text", "Be kind."],
    ["a function that returns a text", () => "Be kind."],
    ["a prompt with a stable part", { stable: "Be kind." }],
  ] as const)("accepts %s as its system prompt", async (_what, system) => {
    const { agent: a, asked } = agent(["one"], { system });
    await a.prompt("first");
    expect(asked[0]?.context.system).toEqual({ stable: "Be kind." });
  });

  it("keeps the conversation between prompts", async () => {
    const { agent: a, asked } = agent(["one", "two"]);
    await a.prompt("first");
    expect((await a.prompt([user("second")])).text).toBe("two");
    expect(requests(asked)[1]).toEqual(["user: first", "assistant: one", "user: second"]);
    expect(a.state).toMatchObject({ running: false, pending: [] });
    expect(a.state.messages).toHaveLength(4);
  });

  it("works without a system prompt", async () => {
    const { stream, requests: asked } = scriptedModel("hello");
    const result = await new Agent({ model: SCRIPTED_MODEL, stream }).prompt("anybody?");
    expect(result).toMatchObject({ reason: "done", text: "hello" });
    expect(asked[0]?.context.system).toEqual({ stable: "" });
  });

  it("rejects a prompt during a run with the code busy", async () => {
    const { agent: a } = agent(["one"]);
    const first = a.prompt("first");
    expect(a.state.running).toBe(true);
    for (const second of [a.prompt("x"), a.continue(), a.compact()]) {
      await expect(second).rejects.toMatchObject({ code: "busy" });
    }
    expect(() => a.reset()).toThrow(/already has a run/);
    expect((await first).reason).toBe("done");
    expect((await a.prompt("again")).reason).toBe("done");
  });

  it("is idle again after invalid input", async () => {
    const { agent: a } = agent(["one"]);
    await expect(a.prompt(assistant("no"))).rejects.toMatchObject({ code: "invalid_input" });
    await a.waitForIdle();
    expect(a.state.running).toBe(false);
    expect((await a.prompt("again")).reason).toBe("done");
  });

  it("is running from the first event to the last", async () => {
    const { agent: a } = agent(["one"]);
    const seconds: Promise<unknown>[] = [];
    a.subscribe((event) => {
      if (event.type === "run.start" || event.type === "run.end")
        seconds.push(
          a
            .prompt("x")
            .result()
            .catch((error) => error),
        );
    });
    await a.prompt("first");
    expect(await Promise.all(seconds)).toMatchObject([{ code: "busy" }, { code: "busy" }]);
  });

  it("handles steering during the run, and follow-ups at its end", async () => {
    const t = tool("t", async () => {
      a.steer("Hurry");
      return text("ok");
    });
    const { agent: a, asked } = agent([assistant([toolCall("a", "t")]), "done", "tests pass"], {
      tools: [t],
    });
    a.followUp("Then test it");
    expect((await a.prompt("Do it")).text).toBe("tests pass");
    expect(requests(asked)[1]?.slice(2)).toEqual(["result#a: ok", "user: Hurry"]);
    expect(requests(asked)[2]?.at(-1)).toBe("user: Then test it");
    expect(a.state).toMatchObject({ steering: [], followUps: [] });
  });

  it("adds all queued steering at once, and follow-ups one at a time", async () => {
    const { agent: a, asked } = agent(["x"]);
    for (const message of ["s1", "s2"]) a.steer(message);
    for (const message of ["f1", "f2"]) a.followUp(message);
    await a.prompt("go");
    expect(requests(asked)[0]?.slice(1)).toEqual(["user: s1", "user: s2"]);
    expect(requests(asked)[1]?.slice(-2)).toEqual(["assistant: x", "user: f1"]);
    expect(requests(asked)[2]?.slice(-2)).toEqual(["assistant: x", "user: f2"]);
  });

  it("returns the messages of its queues when they are cleared", () => {
    const { agent: a } = agent(["x"]);
    a.steer("s");
    a.followUp("f");
    expect(a.clearQueues()).toMatchObject({ steering: [{ content: "s" }], followUps: [{ content: "f" }] });
    expect(a.state).toMatchObject({ steering: [], followUps: [] });
  });

  it("stops on abort and continues from there", async () => {
    const t = tool(
      "t",
      (_call, context) =>
        new Promise((_resolve, reject) =>
          context.signal.addEventListener("abort", () => reject(new Error("stop"))),
        ),
    );
    const { agent: a } = agent([assistant([toolCall("a", "t")]), "done"], { tools: [t] });
    const run = a.prompt("go");
    await next(a, "tool.start");
    a.abort();
    await a.waitForIdle();
    expect((await run).reason).toBe("aborted");
    expect(a.state.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
    expect((await a.continue()).text).toBe("done");
  });

  it("waitForIdle resolves however the run ends", async () => {
    const { agent: a } = agent(["x"], {
      onJournalEntry: () => {
        throw new Error("disk full");
      },
    });
    await a.waitForIdle();
    const run = a
      .prompt("go")
      .result()
      .catch((error: unknown) => error);
    await a.waitForIdle();
    expect(a.state.running).toBe(false);
    expect(await run).toMatchObject({ code: "journal_failed" });
  });

  it("runs an external call that waited for a decision once it is decided", async () => {
    let allowed = false;
    const ran: string[] = [];
    const t = tool("t", async (call) => text(String(ran.push(call.id))), { effects: "external" });
    const { agent: a } = agent([assistant([toolCall("a", "t")]), "done"], {
      tools: [t],
      beforeToolCall: () => (allowed ? undefined : { action: "ask", question: "May I?" }),
    });
    expect((await a.prompt("go")).reason).toBe("waiting");
    expect(a.state.pending.map((call) => call.id)).toEqual(["a"]);
    expect((await a.continue()).reason).toBe("waiting");
    allowed = true;
    expect((await a.continue()).reason).toBe("done");
    expect(ran).toEqual(["a"]);
  });

  it("tells the model that a waiting call was not run if the user sends a new message", async () => {
    const t = tool("t", "never", { effects: "external" });
    const { agent: a, asked } = agent([assistant([toolCall("a", "t")]), "fine"], {
      tools: [t],
      beforeToolCall: () => ({ action: "ask", question: "May I?" }),
    });
    await a.prompt("go");
    await a.prompt("Leave it");
    expect(requests(asked)[1]?.slice(2)).toEqual([
      "result#a: Not run: the call was still waiting for a decision when the user sent a new message.",
      "user: Leave it",
    ]);
  });

  it("orders a late result by its call, and adds queued messages after it", async () => {
    let allowed = false;
    const t = tool("t", async (call) => text(`ran ${call.id}`), { execution: "parallel" });
    const { agent: a, asked } = agent(
      [assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })]), "done"],
      {
        tools: [t],
        beforeToolCall: ({ call }) =>
          call.id === "b" || allowed ? undefined : { action: "ask", question: "?" },
      },
    );
    await a.prompt("go");
    a.steer("Hurry");
    allowed = true;
    await a.continue();
    expect(requests(asked)[1]?.slice(2)).toEqual(["result#a: ran a", "result#b: ran b", "user: Hurry"]);
    expect(a.state.messages.slice(2, 4)).toMatchObject([{ toolCallId: "a" }, { toolCallId: "b" }]);
  });

  it("exposes only the turn that is streaming", async () => {
    const { agent: a } = agent(["Hello there"]);
    const seen: string[] = [];
    a.subscribe(() => void seen.push(a.streaming.text));
    await a.prompt("go");
    expect([...new Set(seen)]).toEqual(["", "Hello ", "Hello there"]);
    expect(seen.at(-1)).toBe("");
  });

  it("waits for slow listeners and survives failing ones", async () => {
    const errors: unknown[] = [];
    const { agent: a } = agent(["Hello there"], { onListenerError: (error) => void errors.push(error) });
    let slow = 0;
    a.subscribe(async (event) => {
      if (event.type !== "text.delta") return;
      await new Promise(setImmediate);
      slow++;
    });
    a.subscribe((event) => {
      if (event.type === "turn.start") throw new Error("sync");
    });
    a.subscribe(async (event) => {
      if (event.type === "turn.end") throw new Error("async");
      if (event.type === "run.end") expect(slow).toBe(2);
    });
    expect((await a.prompt("go")).reason).toBe("done");
    expect(errors.map(String)).toEqual(["Error: sync", "Error: async"]);
  });

  it("applies new options to the next run, and starts another conversation on reset", async () => {
    const { agent: a, asked } = agent(["x"]);
    await a.prompt("go");
    a.configure({ system: { stable: "new" } });
    a.reset([user("old")]);
    await a.continue();
    expect(asked[1]?.context.system.stable).toBe("new");
    expect(requests(asked)[1]).toEqual(["user: old"]);
  });

  it("never runs an external tool twice, whatever fails after it", async () => {
    let paid = 0;
    let asking = true;
    let failing = false;
    const pay = tool("pay", async () => text(String(++paid)), { effects: "external" });
    const { agent: a, asked } = agent([assistant([toolCall("1", "pay")]), "ok"], {
      tools: [pay],
      beforeToolCall: () => (asking ? { action: "ask", question: "?" } : undefined),
      onJournalEntry: (entry) => {
        if (failing && entry.kind === "toolResult") throw new Error("disk full");
      },
    });
    expect((await a.prompt("go")).reason).toBe("waiting");
    asking = false;
    failing = true;
    await expect(a.continue()).rejects.toMatchObject({ code: "journal_failed" });
    failing = false;
    expect((await a.continue()).reason).toBe("done");
    expect(paid).toBe(1);
    expect(requests(asked)[1]?.at(-1)).toMatch(/^result#1: The run was interrupted/);
  });

  it("keeps nothing of the previous conversation after reset", async () => {
    let paid = 0;
    let asking = true;
    const pay = tool("pay", async () => text(String(++paid)), { effects: "external" });
    const { agent: a, asked } = agent([assistant([toolCall("1", "pay")]), "ok"], {
      tools: [pay],
      beforeToolCall: () => (asking ? { action: "ask", question: "?" } : undefined),
    });
    expect((await a.prompt("go")).reason).toBe("waiting");
    a.steer("old steering");
    a.followUp("old follow-up");
    asking = false;
    a.reset([user("new"), assistant([toolCall("1", "pay", { n: 2 })])]);
    expect((await a.continue()).reason).toBe("done");
    expect(paid).toBe(0);
    expect(asked).toHaveLength(2);
    expect(requests(asked)[1]).toEqual([
      "user: new",
      "assistant: →pay#1",
      expect.stringMatching(/^result#1: The run was interrupted/),
    ]);
  });

  it("compacts on request", async () => {
    const { agent: a } = agent(["NOTES"], {
      model: { ...MODEL, contextWindow: 1_000 },
      messages: Array.from({ length: 20 }, (_, i) => [
        user(`q${i} ${"x".repeat(200)}`),
        assistant(`a${i}`),
      ]).flat(),
    });
    expect(await a.compact()).toBe(true);
    expect(a.state.messages[0]).toMatchObject({ role: "compactionSummary", summary: "NOTES" });
    a.reset();
    expect(await a.compact()).toBe(false);
  });

  it("rejects a model turn or a result as a prompt", async () => {
    const { agent: a } = agent(["x"]);
    await expect(a.prompt(assistant("mine"))).rejects.toMatchObject({ code: "invalid_input" });
    await expect(a.prompt([])).rejects.toMatchObject({ code: "invalid_input" });
    expect(a.state.running).toBe(false);
  });

  it("rejects invalid messages for its queues, so valid ones stay queued", async () => {
    const { agent: a, asked } = agent(["done", "and that"]);
    a.steer("Hurry");
    a.followUp("And then that");
    expect(() => a.steer(assistant("mine"))).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(() => a.followUp([user("fine"), assistant("mine")])).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
    expect((await a.prompt("Go")).text).toBe("and that");
    expect(requests(asked).at(-1)).toEqual([
      "user: Go",
      "user: Hurry",
      "assistant: done",
      "user: And then that",
    ]);
  });

  it("reports invalid tools and stays usable", async () => {
    const { agent: a } = agent(["x"], { tools: [tool("t", ""), tool("t", "")] });
    await expect(a.prompt("go")).rejects.toMatchObject({ code: "invalid_tool" });
    a.configure({ tools: [] });
    expect((await a.prompt("go")).reason).toBe("done");
  });

  it("puts queued messages back if the run cannot store them", async () => {
    let entries = 0;
    const { agent: a } = agent(["one", "two"], {
      onJournalEntry: () => {
        // The prompt is stored, but the steering message is not.
        if (++entries === 2) throw new Error("disk full");
      },
    });
    a.steer("listen");
    a.followUp("and then");
    await expect(a.prompt("go")).rejects.toMatchObject({ code: "journal_failed" });
    expect(a.state.steering).toMatchObject([{ content: "listen" }]);
    expect(a.state.followUps).toMatchObject([{ content: "and then" }]);
  });

  it("puts a follow-up back into its queue", async () => {
    let entries = 0;
    const { agent: a } = agent(["one", "two"], {
      onJournalEntry: () => {
        if (++entries === 3) throw new Error("disk full");
      },
    });
    a.followUp("and then");
    await expect(a.prompt("go")).rejects.toMatchObject({ code: "journal_failed" });
    expect(a.state).toMatchObject({ steering: [], followUps: [{ content: "and then" }] });
  });

  it("returns an independent snapshot of the streaming turn", async () => {
    const { agent: a } = agent(["some words"]);
    const seen: string[] = [];
    let first: ReturnType<typeof Object.keys> = [];
    a.subscribe((event) => {
      if (event.type !== "text.delta") return;
      seen.push(a.streaming.text);
      first = Object.keys(a.streaming);
    });
    await a.prompt("go");
    expect(seen).toEqual(["some ", "some words"]);
    expect(first).toEqual(["blocks", "text"]);
    expect(a.streaming).toEqual({ blocks: [], text: "" });
  });

  it("ends the iteration with the run, and stops the run if the iteration is left", async () => {
    const { agent: a } = agent(["one", "two"]);
    const types: string[] = [];
    const run = a.prompt("go");
    for await (const event of run) types.push(event.type);
    expect(types.at(0)).toBe("run.start");
    expect(types.at(-1)).toBe("run.end");
    expect((await run).text).toBe("one");
    const left = a.prompt("again");
    for await (const event of left) if (event.type === "turn.start") break;
    expect((await left.result()).reason).toBe("aborted");
    expect(() => left[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: "busy" }));
  });
});
