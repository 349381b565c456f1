import type { AskAnswer, Step } from "@signalbox/agent-core";
import { parseId, type RunId, StoreError } from "@signalbox/store";
import { expect, it } from "vitest";
import { createAskings } from "./waiting.ts";

const call = (id: string) => ({ type: "toolCall", id, name: "t", args: {}, argsText: "{}" }) as const;

function start(id: string): Step {
  return { kind: "toolStart", turn: 1, messages: [], pendingToolCalls: [], call: call(id), args: {} };
}

function end(toolCallId: string): Step {
  const result = { toolCallId, toolName: "t", content: [], isError: false, timestamp: 0 };
  const message = { role: "toolResult", ...result } as const;
  return { kind: "toolResult", turn: 1, messages: [message], pendingToolCalls: [], message };
}

function harness() {
  const runId = parseId<RunId>("01ARZ3NDEKTSV4RRFFQ69G5001");
  if (runId === undefined) throw new Error("no id");
  const noted: boolean[] = [];
  const answers: ((answer: AskAnswer) => void)[] = [];
  let failing: false | Error = false;
  const lease = { name: "gateway", epoch: 1 };
  const runs = {
    async wait({ waiting }: { readonly waiting: boolean }) {
      if (failing) throw failing;
      noted.push(waiting);
    },
  };
  const askings = createAskings({ store: { runs }, lease, logger: { warn: () => {} } });
  const places: boolean[] = [];
  const handle = {
    standBy(on: boolean) {
      if (places.at(-1) !== on) places.push(on);
    },
  };
  const asking = askings.of(runId, handle);
  return {
    asking,
    noted,
    /** Whether the run was said to wait, each time that this changed. */
    places,
    allOver: askings.allOver,
    /** What the next try of the run begins with. */
    async again() {
      await askings.over(runId);
      return askings.of(runId, handle);
    },
    ask: () => asking.during(() => new Promise<AskAnswer>((resolve) => answers.push(resolve))),
    answer: () => answers.shift()?.({ action: "allow" }),
    fail: (on: boolean, error = new Error("the disk is full")) => {
      failing = on && error;
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

it("notes that a run waits as long as it does nothing else", async () => {
  const { asking, noted, places, ask, answer } = harness();
  await asking.onStep(start("before"));
  await asking.onStep(end("before"));
  expect(noted).toEqual([]);
  const first = ask();
  await soon();
  const second = ask();
  await soon();
  expect(noted).toEqual([true]);
  // A call beside it may be what ends the process, so it is on record before it begins.
  await asking.onStep(start("beside"));
  expect(noted).toEqual([true, false]);
  await asking.onStep(end("beside"));
  expect(noted).toEqual([true, false, true]);
  answer();
  expect(await first).toEqual({ action: "allow" });
  expect(noted).toHaveLength(3);
  answer();
  await second;
  expect(noted).toEqual([true, false, true, false]);
  // Others go on in its place exactly meanwhile.
  expect(places).toEqual(noted);
});

it("takes its place again when it is answered, whatever comes of asking and of noting it", async () => {
  const { asking, places, ask, answer, fail } = harness();
  await expect(asking.during(() => Promise.reject(new Error("nobody there")))).rejects.toThrow("nobody");
  expect(places).toEqual([true, false]);
  fail(true);
  const asked = ask();
  await soon();
  expect(places).toEqual([true, false, true]);
  answer();
  await asked;
  expect(places).toEqual([true, false, true, false]);
});

it("is on record as waiting no more than once, however often its end cannot be noted", async () => {
  const { noted, ask, answer, fail, again } = harness();
  const first = ask();
  await soon();
  fail(true);
  answer();
  await expect(first).rejects.toThrow("the disk is full");
  await expect(again()).rejects.toThrow("the disk is full");
  fail(false);
  const next = await again();
  expect(noted).toEqual([true, false]);
  await next.during(() => ({ action: "allow" }));
  expect(noted).toEqual([true, false, true, false]);
  await again();
  expect(noted).toHaveLength(4);
});

it("lets nothing run while the end of its waiting is not on record", async () => {
  const { asking, noted, ask, answer, fail } = harness();
  const asked = ask();
  await soon();
  fail(true);
  answer();
  await expect(asked).rejects.toThrow("the disk is full");
  await expect(asking.onStep(start("next"))).rejects.toThrow("the disk is full");
  fail(false);
  await asking.onStep(start("another"));
  expect(noted).toEqual([true, false]);
});

it("closes what is open at the end of the process, once, and leaves runs alone that have ended", async () => {
  const open = harness();
  void open.ask();
  await soon();
  await open.allOver();
  expect(open.noted).toEqual([true, false]);
  await open.allOver();
  open.answer();
  await soon();
  expect(open.noted).toEqual([true, false]);

  const ended = harness();
  void ended.ask();
  await soon();
  ended.fail(true);
  await expect(ended.allOver()).rejects.toThrow("the disk is full");
  ended.fail(true, new StoreError("conflict", "it has ended"));
  await ended.allOver();
  ended.fail(false);
  await ended.allOver();
  expect(ended.noted).toEqual([true]);
});

it("asks though it could not be noted, and lets nothing run that would not count", async () => {
  const { asking, noted, ask, answer, fail } = harness();
  fail(true);
  const asked = ask();
  await soon();
  answer();
  expect(await asked).toEqual({ action: "allow" });
  expect(noted).toEqual([]);
  fail(false);
  const again = ask();
  await soon();
  fail(true);
  await expect(asking.onStep(start("beside"))).rejects.toThrow("the disk is full");
  answer();
  await expect(again).rejects.toThrow("the disk is full");
});
