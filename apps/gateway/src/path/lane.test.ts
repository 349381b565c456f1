import { type InboxId, parseId } from "@signalbox/store";
import { describe, expect, it } from "vitest";
import {
  type Batch,
  createLanes,
  type Lanes,
  type QueueSettings,
  type RunHandle,
  type Waiting,
} from "./lane.ts";

interface Message extends Waiting {
  readonly text: string;
}

interface Running {
  readonly texts: readonly string[];
  readonly summarised: readonly string[];
  readonly handle: RunHandle<Message>;
  end(): void;
}

const QUEUE: QueueSettings = { mode: "steer", debounceMs: 0, cap: 20, drop: "summarise" };

function harness(
  queue: Partial<QueueSettings> = {},
  maxRuns = 64,
): {
  lanes: Lanes<Message>;
  runs: Running[];
  dropped: string[];
  say(text: string, session?: string, exclusive?: boolean): void;
} {
  const runs: Running[] = [];
  const dropped: string[] = [];
  const lanes = createLanes<Message>({
    maxRuns,
    queue: () => ({ ...QUEUE, ...queue }),
    together: (a, b) => placeOf(a) === placeOf(b),
    drop: (messages) => dropped.push(...messages.map((message) => message.text)),
    run: (batch: Batch<Message>, handle) =>
      new Promise((resolve) => {
        const texts = (messages: readonly Message[]): string[] => messages.map((message) => message.text);
        runs.push({
          texts: texts(batch.messages),
          summarised: texts(batch.summarised),
          handle,
          end: resolve,
        });
      }),
  });
  let count = 0;
  return {
    lanes,
    runs,
    dropped,
    say(text, session = "s", exclusive = false) {
      const id = parseId<InboxId>(`01ARZ3NDEKTSV4RRFFQ69G5${String(++count).padStart(3, "0")}`);
      if (id === undefined) throw new Error("no id");
      lanes.enqueue({ id, sessionKey: session, exclusive, text });
    },
  };
}

/** What stands behind a slash. */
function placeOf({ text }: Message): string {
  return text.split("/")[1] ?? "";
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("one session", () => {
  it("starts nothing of a held session until its messages are put back in front", async () => {
    const { lanes, runs, say } = harness({ mode: "followup" });
    say("a");
    lanes.hold("s");
    runs[0]?.end();
    await settle();
    say("b");
    await settle();
    expect(runs).toHaveLength(1);
    const [waiting] = lanes.waiting("s");
    expect(waiting?.text).toBe("b");
    lanes.putBack("s", waiting ? [{ ...waiting, text: "a again" }] : []);
    expect(runs[1]?.texts).toEqual(["a again"]);
    runs[1]?.end();
    await settle();
    expect(runs[2]?.texts).toEqual(["b"]);
  });

  it("answers messages of different places one by one, in order, and steers with none of another", async () => {
    const { runs, say } = harness({}, 1);
    say("held", "other");
    for (const text of ["a/x", "b/x", "c/y", "d/x"]) say(text);
    runs[0]?.end();
    await settle();
    expect(runs[1]?.texts).toEqual(["a/x", "b/x"]);
    say("e/x");
    expect(runs[1]?.handle.takeSteering()).toEqual([]);
    for (const [index, texts] of [["c/y"], ["d/x", "e/x"]].entries()) {
      runs[index + 1]?.end();
      await settle();
      expect(runs[index + 2]?.texts).toEqual(texts);
    }
  });

  it("has one run at a time; what comes meanwhile steers it", async () => {
    const { runs, lanes, say } = harness();
    say("a");
    say("b");
    say("c");
    expect(runs.map((run) => run.texts)).toEqual([["a"]]);
    expect(runs[0]?.handle.takeSteering().map((message) => message.text)).toEqual(["b", "c"]);
    expect(runs[0]?.handle.takeSteering()).toEqual([]);
    runs[0]?.end();
    await settle();
    expect(runs).toHaveLength(1);
    expect(lanes.busy("s")).toBe(false);
  });

  it("answers what steering did not take in a next run", async () => {
    const { runs, say } = harness();
    say("a");
    say("b");
    say("c");
    runs[0]?.end();
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b", "c"]]);
  });

  it("answers one after the other with followup", async () => {
    const { runs, say } = harness({ mode: "followup" });
    for (const text of ["a", "b", "c"]) say(text);
    expect(runs[0]?.handle.takeSteering()).toEqual([]);
    for (let index = 0; index < 3; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b"], ["c"]]);
  });

  it("collects what waits into one run", async () => {
    const { runs, say } = harness({ mode: "collect" });
    for (const text of ["a", "b", "c"]) say(text);
    expect(runs[0]?.handle.takeSteering()).toEqual([]);
    runs[0]?.end();
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b", "c"]]);
  });

  it("stops the running turn with interrupt", async () => {
    const { runs, say } = harness({ mode: "interrupt" });
    say("a");
    expect(runs[0]?.handle.signal.aborted).toBe(false);
    say("b");
    expect(runs[0]?.handle.signal.aborted).toBe(true);
    runs[0]?.end();
    await settle();
    expect(runs.map((run) => run.texts)).toEqual([["a"], ["b"]]);
  });

  it("keeps an exclusive message alone and in its place", async () => {
    const { runs, say } = harness();
    say("a");
    say("b");
    say("only", "s", true);
    say("c");
    expect(runs[0]?.handle.takeSteering().map((message) => message.text)).toEqual(["b"]);
    runs[0]?.end();
    await settle();
    expect(runs[1]?.texts).toEqual(["only"]);
    expect(runs[1]?.handle.takeSteering()).toEqual([]);
    runs[1]?.end();
    await settle();
    expect(runs[2]?.texts).toEqual(["c"]);
  });

  it("waits for quiet before it starts", async () => {
    const { runs, say } = harness({ debounceMs: 20 });
    say("a");
    say("b");
    expect(runs).toEqual([]);
    await expect.poll(() => runs.map((run) => run.texts)).toEqual([["a", "b"]]);
  });

  it("tells the oldest in short beyond the cap, or drops them, or the newest", async () => {
    const summarise = harness({ cap: 2, mode: "collect" });
    for (const text of ["a", "b", "c", "d"]) summarise.say(text);
    summarise.runs[0]?.end();
    await settle();
    expect(summarise.runs[1]).toMatchObject({ texts: ["c", "d"], summarised: ["b"] });

    const old = harness({ cap: 2, drop: "old" });
    for (const text of ["a", "b", "c", "d"]) old.say(text);
    expect(old.dropped).toEqual(["b"]);
    const fresh = harness({ cap: 2, drop: "new" });
    for (const text of ["a", "b", "c", "d"]) fresh.say(text);
    expect(fresh.dropped).toEqual(["d"]);
  });

  it("takes back and replaces only what waits", () => {
    const { lanes, runs, say } = harness({ mode: "collect" });
    say("a");
    say("b");
    const [waiting] = lanes.waiting("s");
    if (!waiting) throw new Error("nothing waits");
    expect(lanes.replace({ ...waiting, text: "b, edited" })).toBe(true);
    expect(lanes.waiting("s").map((message) => message.text)).toEqual(["b, edited"]);
    expect(lanes.withdraw("s", waiting.id)).toBe(true);
    expect(lanes.withdraw("s", waiting.id)).toBe(false);
    expect(runs).toHaveLength(1);
  });
});

describe("many sessions", () => {
  it("run at once up to the limit, the one that waited longest next", async () => {
    const { runs, say } = harness({ mode: "followup" }, 2);
    for (const session of ["s1", "s2", "s3"]) {
      say(`${session} first`, session);
      say(`${session} second`, session);
    }
    expect(runs.map((run) => run.texts[0])).toEqual(["s1 first", "s2 first"]);
    runs[0]?.end();
    await settle();
    // s3 has waited longer than the second message of s1.
    expect(runs.map((run) => run.texts[0])).toEqual(["s1 first", "s2 first", "s3 first"]);
    runs[1]?.end();
    await settle();
    expect(runs[3]?.texts[0]).toBe("s1 second");
  });

  it("forgets sessions without work", async () => {
    const { lanes, runs, say } = harness();
    for (let index = 0; index < 100; index++) say("x", `s${index}`);
    for (let index = 0; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(runs).toHaveLength(100);
    expect(lanes.counts()).toEqual({ running: 0, waiting: 0 });
    expect(lanes.busy("s0")).toBe(false);
  });

  it("closes when the running turns have ended and starts no others", async () => {
    const { lanes, runs, say } = harness({ mode: "followup" });
    say("a");
    say("b");
    let closed = false;
    const closing = lanes.close().then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    lanes.stopAll(new Error("enough"));
    expect(runs[0]?.handle.signal.aborted).toBe(true);
    runs[0]?.end();
    await closing;
    expect(runs).toHaveLength(1);
  });
});
