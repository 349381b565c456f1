import { describe, expect, it } from "vitest";
import { run } from "../test/run.ts";
import {
  assistant,
  MODEL,
  SYSTEM,
  scripted,
  text,
  toEvents,
  tool,
  toolCall,
  user,
} from "../test/scripted.ts";
import { RunQueue, ViewQueue } from "./event-queue.ts";
import type { AgentEvent } from "./index.ts";
import { Agent, toStream } from "./index.ts";

const delta = (value: string, index = 0): AgentEvent => ({ type: "text.delta", index, delta: value });
const update = (callId: string, value: string): AgentEvent => ({
  type: "tool.update",
  callId,
  partial: text(value),
});

async function drain(queue: RunQueue | ViewQueue): Promise<AgentEvent[]> {
  queue.close();
  const events: AgentEvent[] = [];
  for (;;) {
    const { value, done } = await queue.next();
    if (done === true) return events;
    events.push(value);
  }
}

describe("any queue", () => {
  it.each([() => new RunQueue(() => {}), () => new ViewQueue(() => {})])(
    "serves those who wait in the order they came, and lets none of them wait for ever",
    async (make) => {
      const queue = make();
      const asked = Array.from({ length: 4 }, () => queue.next());
      void queue.push(delta("a"));
      void queue.push(delta("b"));
      queue.close();
      expect(await Promise.all(asked)).toEqual([
        { value: delta("a"), done: false },
        { value: delta("b"), done: false },
        { value: undefined, done: true },
        { value: undefined, done: true },
      ]);
      const failing = make();
      const [first, second] = [failing.next(), failing.next()];
      failing.close({ error: new Error("boom") });
      await expect(first).rejects.toThrow("boom");
      expect(await second).toEqual({ value: undefined, done: true });
    },
  );
});

describe("RunQueue", () => {
  it("makes the run wait at 256 unread events until half of them are read", async () => {
    const queue = new RunQueue(() => {});
    for (let i = 0; i < 255; i++) expect(queue.push(delta(String(i)))).toBeUndefined();
    let went = false;
    const wait = queue.push(delta("255"));
    void Promise.resolve(wait).then(() => {
      went = true;
    });
    for (let i = 0; i < 127; i++) await queue.next();
    expect(went).toBe(false);
    await queue.next();
    await wait;
    expect(went).toBe(true);
  });

  it("delivers queued events before it ends or fails", async () => {
    const queue = new RunQueue(() => {});
    void queue.push(delta("x"));
    queue.close({ error: new Error("boom") });
    expect(await queue.next()).toEqual({ value: delta("x"), done: false });
    await expect(queue.next()).rejects.toThrow("boom");
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it("lets the run continue after the reader has left", async () => {
    let left = 0;
    const queue = new RunQueue(() => left++);
    for (let i = 0; i < 300; i++) void queue.push(delta("x"));
    const wait = queue.push(delta("x"));
    const reading = queue.return();
    await wait;
    expect((await reading).done).toBe(true);
    expect(queue.push(delta("y"))).toBeUndefined();
    expect(left).toBe(1);
  });
});

describe("ViewQueue", () => {
  it("joins deltas for a slow viewer without losing text", async () => {
    const queue = new ViewQueue(() => {}, 16);
    const all = Array.from({ length: 1_000 }, (_, i) => `${i} `);
    for (const value of all) queue.push(delta(value));
    const events = await drain(queue);
    expect(events.length).toBeLessThanOrEqual(16);
    expect(events.map((event) => (event.type === "text.delta" ? event.delta : "?")).join("")).toBe(
      all.join(""),
    );
  });

  it("does not join across blocks or kinds", async () => {
    const queue = new ViewQueue(() => {}, 8);
    const events = [
      delta("a"),
      delta("b"),
      delta("c", 1),
      { type: "thinking.delta", index: 1, delta: "d" } as const,
      delta("e", 1),
    ];
    for (const event of [...events, update("x", "1"), update("x", "2"), delta("f", 1)]) queue.push(event);
    expect(await drain(queue)).toEqual([{ type: "lagged", missed: 6 }]);
    const wide = new ViewQueue(() => {}, 16);
    for (const event of [...events, ...Array<AgentEvent>(11).fill(update("x", "2"))]) wide.push(event);
    expect(await drain(wide)).toEqual([delta("ab"), ...events.slice(2), update("x", "2")]);
  });

  it("reports the number of events that a very slow viewer missed", async () => {
    const queue = new ViewQueue(() => {}, 8);
    for (let i = 0; i < 1_000; i++) queue.push({ type: "turn.start", turn: i });
    const events = await drain(queue);
    const missed = events.reduce((sum, event) => sum + (event.type === "lagged" ? event.missed : 1), 0);
    expect(events.length).toBeLessThanOrEqual(8);
    expect(missed).toBe(1_000);
  });
});

describe("Agent.events", () => {
  it("loses no event for a viewer that reads at once, even in a long burst", async () => {
    const blocks = Array.from({ length: 300 }, (_, n) => ({ type: "text", text: `${n}` }) as const);
    const given = [...toEvents(assistant(blocks))];
    const agent = new Agent({ model: MODEL, stream: () => toStream(given), system: SYSTEM });
    const all: AgentEvent[] = [];
    agent.subscribe((event) => void all.push(event));
    const seen: AgentEvent[] = [];
    const events = agent.events({ capacity: 32 });
    const reading = (async () => {
      for await (const event of events) {
        seen.push(event);
        if (event.type === "run.end") return;
      }
    })();
    await agent.prompt(user("go"));
    await reading;
    expect(all.length).toBeGreaterThan(900);
    expect(seen).toEqual(all);
  });

  it("never delays the run, and ends when the viewer leaves", async () => {
    const turns = Array.from({ length: 50 }, (_, n) => assistant([toolCall(`c${n}`, "t", { n })]));
    const agent = new Agent({
      model: MODEL,
      stream: scripted(...turns, "done").stream,
      system: SYSTEM,
      tools: [tool("t", "ok")],
    });
    const events = agent.events({ capacity: 32 });
    expect((await agent.prompt(user("go"))).reason).toBe("done");
    const seen: string[] = [];
    for await (const event of events) {
      seen.push(event.type);
      if (event.type === "run.end") break;
    }
    expect(seen[0]).toBe("lagged");
    expect(seen.length).toBeLessThanOrEqual(32);
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  it("always delivers the end of the run to a slow viewer", async () => {
    const queue = new ViewQueue(() => {}, 8);
    for (let i = 0; i < 100; i++) queue.push({ type: "turn.start", turn: i });
    const { result } = await run(["ok"]);
    queue.push({ type: "run.end", result });
    for (let i = 0; i < 100; i++) queue.push({ type: "turn.start", turn: i });
    const events = await drain(queue);
    expect(events.filter((event) => event.type === "run.end")).toHaveLength(1);
    expect(events.some((event) => event.type === "lagged")).toBe(true);
  });
});
