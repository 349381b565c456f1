import { describe, expect, it } from "vitest";
import { type Batch, createLanes } from "../src/index.ts";
import { laneHarness, settle } from "./harness.ts";

describe("a lane", () => {
  it("shares a run only between items that may share one, and keeps their order", async () => {
    const { runs, say } = laneHarness({}, 1);
    say("held", "other");
    for (const text of ["a/x", "b/x", "c/y", "d/x"]) say(text);
    runs[0]?.end();
    await settle();
    expect(runs[1]?.texts).toEqual(["a/x", "b/x"]);
    say("e/x");
    expect(runs[1]?.steer().texts).toEqual([]);
    for (const [index, texts] of [["c/y"], ["d/x", "e/x"]].entries()) {
      runs[index + 1]?.end();
      await settle();
      expect(runs[index + 2]?.texts).toEqual(texts);
    }
  });

  it("has one run at a time, which later items steer", async () => {
    const { runs, lanes, say } = laneHarness();
    say("a");
    say("b");
    say("c");
    expect(runs.map((run) => run.texts)).toEqual([["a"]]);
    expect(runs[0]?.steer().texts).toEqual(["b", "c"]);
    expect(runs[0]?.steer().texts).toEqual([]);
    runs[0]?.end();
    await settle();
    expect(runs).toHaveLength(1);
    expect(lanes.busy("s")).toBe(false);
  });

  it("starts no further run after a run has blocked the key", async () => {
    const { runs, lanes, say } = laneHarness();
    say("a");
    say("b");
    runs[0]?.handle.block();
    runs[0]?.end();
    await settle();
    lanes.withdraw("s", "002");
    say("c");
    say("d", "another");
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["d"]]);
  });

  it("gives items that the run did not take to the next run", async () => {
    const { runs, say } = laneHarness();
    say("a");
    say("b");
    say("c");
    runs[0]?.end();
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b", "c"]]);
  });

  it("gives each item a run of its own in mode followup", async () => {
    const { runs, say } = laneHarness({ mode: "followup" });
    for (const text of ["a", "b", "c"]) say(text);
    expect(runs[0]?.steer().texts).toEqual([]);
    for (let index = 0; index < 3; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b"], ["c"]]);
  });

  it("gives all waiting items one run in mode collect", async () => {
    const { runs, say } = laneHarness({ mode: "collect" });
    for (const text of ["a", "b", "c"]) say(text);
    expect(runs[0]?.steer().texts).toEqual([]);
    runs[0]?.end();
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b", "c"]]);
  });

  it("aborts the current run in mode interrupt", async () => {
    const { runs, say } = laneHarness({ mode: "interrupt" });
    say("a");
    expect(runs[0]?.handle.signal.aborted).toBe(false);
    say("b");
    expect(runs[0]?.handle.signal.aborted).toBe(true);
    runs[0]?.end();
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b"]]);
  });

  it("gives an exclusive item a run of its own, in its place in the queue", async () => {
    const { runs, say } = laneHarness();
    say("a");
    say("b");
    say("only", "s", true);
    say("c");
    expect(runs[0]?.steer().texts).toEqual(["b"]);
    runs[0]?.end();
    await settle();
    expect(runs[1]?.texts).toEqual(["only"]);
    expect(runs[1]?.steer().texts).toEqual([]);
    runs[1]?.end();
    await settle();
    expect(runs[2]?.texts).toEqual(["c"]);
  });

  it("starts a run after the debounce time", async () => {
    const { runs, clock, say } = laneHarness({ debounceMs: 20 });
    say("a");
    say("b");
    await clock.advance(19);
    expect(runs).toEqual([]);
    await clock.advance(1);
    expect(runs.map((run) => run.texts)).toEqual([["a", "b"]]);
    expect(clock.pending()).toBe(0);
  });

  it("summarises the oldest items beyond the cap, or drops the oldest or newest", async () => {
    const summarise = laneHarness({ cap: 2, mode: "collect" });
    for (const text of ["a", "b", "c", "d"]) summarise.say(text);
    summarise.runs[0]?.end();
    await settle();
    expect(summarise.runs[1]).toMatchObject({ texts: ["c", "d"], summarised: ["b"] });

    const old = laneHarness({ cap: 2, drop: "old" });
    for (const text of ["a", "b", "c", "d"]) old.say(text);
    expect(old.dropped).toEqual(["b"]);
    const fresh = laneHarness({ cap: 2, drop: "new" });
    for (const text of ["a", "b", "c", "d"]) fresh.say(text);
    expect(fresh.dropped).toEqual(["d"]);
  });

  it("summarises items beyond the cap with the next run in mode followup", async () => {
    const { runs, say } = laneHarness({ mode: "followup", cap: 2 });
    const letters = [..."abcdefghij"];
    for (const letter of letters) say(letter);
    for (let index = 0; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(runs.map(({ texts, summarised }) => [texts.join(""), summarised.join("")])).toEqual([
      ["a", ""],
      ["i", "bcdefgh"],
      ["j", ""],
    ]);
  });

  it("steers a run with the newest items up to the cap and summarises the others", () => {
    const { runs, say } = laneHarness({ cap: 2 });
    for (const letter of "abcdefghij") say(letter);
    expect(runs[0]?.steer()).toEqual({ texts: ["i", "j"], summarised: [..."bcdefgh"] });
    expect(runs[0]?.steer()).toEqual({ texts: [], summarised: [] });
  });

  it("names the first dropped item of each group until the lane is idle again", async () => {
    const { runs, reasons, lanes, say } = laneHarness({ cap: 1, drop: "new" });
    const first = (): string[][] =>
      reasons.map((reason) => (reason.kind === "full" ? reason.first.map(({ text }) => text) : []));
    for (const text of ["a/x", "b/x", "c/x", "d/x", "e/y", "f/y"]) say(text);
    expect(first()).toEqual([["c/x"], [], ["e/y"], []]);
    for (let index = 0; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(lanes.busy("s")).toBe(false);
    for (const text of ["g/x", "h/x", "i/x"]) say(text);
    expect(first().slice(4)).toEqual([["i/x"]]);
  });

  it("recalls items from their run and aborts it when none is left", async () => {
    const { lanes, runs, say } = laneHarness();
    const gone = new Error("taken back");
    const a = say("a");
    const b = say("b");
    expect(lanes.recall("s", b, gone)).toBe(false);
    expect(runs[0]?.steer().texts).toEqual(["b"]);
    expect(lanes.all("s").map(({ text }) => text)).toEqual(["a", "b"]);
    expect(lanes.recall("s", a, gone)).toBe(true);
    expect(lanes.recall("s", a, gone)).toBe(false);
    expect(runs[0]?.handle.signal.aborted).toBe(false);
    expect([a, b].map((id) => runs[0]?.handle.recalled.has(id))).toEqual([true, false]);
    expect(lanes.all("s").map(({ text }) => text)).toEqual(["b"]);
    expect(lanes.recall("s", b, gone)).toBe(true);
    expect(runs[0]?.handle.signal.reason).toBe(gone);
    // An item that arrives while the run ends goes to the next run.
    say("c");
    expect(runs[0]?.steer().texts).toEqual([]);
    runs[0]?.end();
    await settle();
    expect(runs[1]?.texts).toEqual(["c"]);
  });

  it("neither withdraws nor drops an item that stands for a run of an earlier process", async () => {
    const { lanes, runs, say } = laneHarness({}, 1);
    say("first", "other");
    lanes.enqueue({
      id: "b",
      session: "s",
      text: "begun",
      sender: "s",
      exclusive: true,
      covers: ["b"],
    });
    expect(lanes.withdraw("s", "b")).toBe(false);
    expect(lanes.stop("s", new Error("enough"))).toEqual({ running: true, dropped: 0 });
    runs[0]?.end();
    await settle();
    // The run continues only to end.
    expect(runs[1]?.texts).toEqual(["begun"]);
    expect(runs[1]?.handle.signal.aborted).toBe(true);
    expect(lanes.withdraw("s", "b")).toBe(false);
    expect(lanes.recall("s", "b", new Error("gone"))).toBe(true);
    runs[1]?.end();
    await settle();
    say("c");
    expect(runs[2]?.handle.signal.aborted).toBe(false);
  });

  it("reports a run that rejects or throws, and continues with the next item", async () => {
    const errors: unknown[] = [];
    const ran: string[] = [];
    const lanes = createLanes<{ id: string }>({
      maxRuns: () => 1,
      getKey: () => "s",
      getQueueSettings: () => ({ mode: "followup", debounceMs: 0, cap: 20, drop: "summarise" }),
      onError: (error, { items }) => errors.push([error, items[0]?.id]),
      run({ items: [item] }) {
        ran.push(item?.id ?? "");
        if (item?.id === "throws") throw new Error("thrown");
        return item?.id === "rejects" ? Promise.reject(new Error("rejected")) : Promise.resolve();
      },
    });
    for (const id of ["rejects", "throws", "works"]) lanes.enqueue({ id });
    await settle();
    expect(ran).toEqual(["rejects", "throws", "works"]);
    expect(errors).toEqual([
      [new Error("rejected"), "rejects"],
      [new Error("thrown"), "throws"],
    ]);
    expect(lanes.busy("s")).toBe(false);
    await lanes.close();
  });

  it("steers without a debounce and summarises beyond 20 items by default", async () => {
    const batches: Batch<{ id: string }>[] = [];
    const ends: (() => void)[] = [];
    const lanes = createLanes<{ id: string }>({
      maxRuns: () => 1,
      getKey: () => "s",
      run(batch, { takeSteering }) {
        batches.push(batch);
        return new Promise((resolve) => {
          ends.push(() => {
            batches.push(takeSteering());
            resolve();
          });
        });
      },
    });
    for (let at = 0; at <= 25; at++) lanes.enqueue({ id: String(at) });
    ends[0]?.();
    await lanes.close();
    expect(batches.map(({ items, summarised }) => [items.length, summarised.length])).toEqual([
      [1, 0],
      [20, 5],
    ]);
  });

  it("has an item once, even if it is enqueued again while it waits or runs", async () => {
    const { lanes, runs, say } = laneHarness();
    say("a");
    const running = runs[0]?.texts;
    say("b");
    const [waiting] = lanes.waiting("s");
    if (!waiting) throw new Error("nothing waits");
    lanes.enqueue(waiting);
    expect(runs[0]?.steer().texts).toEqual(["b"]);
    lanes.enqueue(waiting);
    expect(lanes.waiting("s")).toEqual([]);
    runs[0]?.end();
    await settle();
    expect([running, runs.length]).toEqual([["a"], 1]);
    lanes.enqueue(waiting);
    expect(runs[1]?.texts).toEqual(["b"]);
  });

  it("withdraws and changes only waiting items", async () => {
    const { lanes, runs, say } = laneHarness({ mode: "collect" });
    const running = say("a");
    say("b");
    const [waiting] = lanes.waiting("s");
    if (!waiting) throw new Error("nothing waits");
    const edited = { ...waiting, text: "b, edited" };
    expect(await lanes.change("s", waiting.id, async () => edited)).toBe("changed");
    expect(lanes.waiting("s").map((message) => message.text)).toEqual(["b, edited"]);
    const neverCalled = () => Promise.reject(new Error("a running item was changed"));
    expect(await lanes.change("s", running, neverCalled)).toBe("not_waiting");
    expect(lanes.withdraw("s", waiting.id)).toBe(true);
    expect(lanes.withdraw("s", waiting.id)).toBe(false);
    expect(runs).toHaveLength(1);
  });

  it("starts no run with an item, or a later one, while the item is being changed", async () => {
    const { lanes, runs, say } = laneHarness();
    say("a");
    const id = say("b");
    say("c");
    const changed = Promise.withResolvers<void>();
    const [waiting] = lanes.waiting("s");
    if (!waiting) throw new Error("nothing waits");
    const change = lanes.change("s", id, async () => {
      await changed.promise;
      return { ...waiting, text: "b, edited" };
    });
    expect(runs[0]?.steer().texts).toEqual([]);
    runs[0]?.end();
    await settle();
    say("d");
    expect(runs).toHaveLength(1);
    changed.resolve();
    expect(await change).toBe("changed");
    expect(runs[1]?.texts).toEqual(["b, edited", "c", "d"]);
  });

  it("runs an item unchanged if its change fails, and drops it if the change removes it", async () => {
    const { lanes, runs, say } = laneHarness({ mode: "followup" });
    say("a");
    const [failing, removed] = [say("b"), say("c")];
    await expect(lanes.change("s", failing, () => Promise.reject(new Error("disk full")))).rejects.toThrow();
    expect(await lanes.change("s", removed, async () => undefined)).toBe("changed");
    const ending = Promise.withResolvers<undefined>();
    const dropped = lanes.change("s", say("d"), () => ending.promise);
    lanes.stop("s", new Error("stopped"), ({ text }) => text === "d");
    ending.resolve(undefined);
    expect(await dropped).toBe("dropped");
    runs[0]?.end();
    await settle();
    runs[1]?.end();
    await settle();
    expect(runs.map(({ texts }) => texts)).toEqual([["a"], ["b"]]);
    expect(lanes.busy("s")).toBe(false);
  });
});

describe("the debounce", () => {
  it("lasts at most five times its length, or ten seconds if that is less", async () => {
    const { runs, clock, say } = laneHarness({ debounceMs: 50 });
    for (let index = 0; index < 20; index++) {
      say(`m${index}`);
      await clock.advance(30);
    }
    // The run starts after five times the debounce time although items keep arriving.
    expect(runs.map(({ texts }) => texts.length)).toEqual([9]);
    const slow = laneHarness({ debounceMs: 60_000 });
    slow.say("a");
    await slow.clock.advance(59_999);
    expect(slow.runs).toHaveLength(0);
    await slow.clock.advance(1);
    expect(slow.runs).toHaveLength(1);
    const long = laneHarness({ debounceMs: 4_000 });
    for (let at = 0; at <= 9_000; at += 3_000) {
      long.say("a");
      await long.clock.advance(at < 9_000 ? 3_000 : 1_000);
    }
    expect(long.runs.map(({ texts }) => texts.length)).toEqual([4]);
  });

  it("ends if a stop drops the waiting items", async () => {
    const { lanes, clock, runs, dropped, reasons, say } = laneHarness({ debounceMs: 50 });
    say("a");
    say("b");
    const stop = say("/stop", "elsewhere");
    say("c");
    const { length } = runs;
    expect(lanes.stop("s", new Error("enough"), ({ id }) => id < stop)).toEqual({
      running: false,
      dropped: 2,
    });
    expect(dropped).toEqual(["a", "b"]);
    expect(reasons).toEqual([{ kind: "stopped" }]);
    await clock.advance(1_000);
    expect(runs.slice(length).map(({ texts }) => texts)).toContainEqual(["c"]);
    expect(runs.flatMap(({ texts }) => texts)).not.toContain("a");
    for (const run of runs) run.end();
    expect(lanes.stop("nobody's", new Error("enough"))).toEqual({ running: false, dropped: 0 });
  });

  it("does not keep a stop from dropping exclusive items too", async () => {
    const { lanes, runs, dropped, say } = laneHarness({ mode: "followup" });
    say("a");
    say("b");
    say("/new", "s", true);
    expect(lanes.stop("s", new Error("enough"))).toEqual({ running: true, dropped: 2 });
    expect(dropped).toEqual(["b", "/new"]);
    expect(runs[0]?.handle.signal.aborted).toBe(true);
    runs[0]?.end();
    await settle();
    expect(runs).toHaveLength(1);
    expect(lanes.busy("s")).toBe(false);
  });
});
