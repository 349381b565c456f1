import type { AskAnswer, Step } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { createWaitingRuns } from "../src/index.ts";
import { unknownRunId } from "./open-runs.ts";

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
  const runId = unknownRunId();
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
  const waitingRuns = createWaitingRuns({ store: { runs }, lease, onFailure: () => {} });
  const places: boolean[] = [];
  const place = {
    standBy(on: boolean) {
      if (places.at(-1) !== on) places.push(on);
    },
  };
  const waiting = waitingRuns.of(runId, place);
  return {
    waiting,
    noted,
    /** Whether the run was said to wait, each time that this changed. */
    places,
    allOver: waitingRuns.allOver,
    /** What the next try of the run begins with. */
    async again() {
      await waitingRuns.over(runId);
      return waitingRuns.of(runId, place);
    },
    ask: () => waiting.during(() => new Promise<AskAnswer>((resolve) => answers.push(resolve))),
    answer: () => answers.shift()?.({ action: "allow" }),
    fail: (on: boolean, error = new Error("the disk is full")) => {
      failing = on && error;
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

it("notes that a run waits as long as it does nothing else", async () => {
  const { waiting, noted, places, ask, answer } = harness();
  await waiting.onStep(start("before"));
  await waiting.onStep(end("before"));
  expect(noted).toEqual([]);
  const first = ask();
  await soon();
  const second = ask();
  await soon();
  expect(noted).toEqual([true]);
  // A call beside it may be what ends the process, so it is on record before it begins.
  await waiting.onStep(start("beside"));
  expect(noted).toEqual([true, false]);
  await waiting.onStep(end("beside"));
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
  const { waiting, places, ask, answer, fail } = harness();
  await expect(waiting.during(() => Promise.reject(new Error("nobody there")))).rejects.toThrow("nobody");
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
  const { waiting, noted, ask, answer, fail } = harness();
  const asked = ask();
  await soon();
  fail(true);
  answer();
  await expect(asked).rejects.toThrow("the disk is full");
  await expect(waiting.onStep(start("next"))).rejects.toThrow("the disk is full");
  fail(false);
  await waiting.onStep(start("another"));
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
  ended.fail(true, Object.assign(new Error("it has ended"), { code: "conflict" }));
  await ended.allOver();
  ended.fail(false);
  await ended.allOver();
  expect(ended.noted).toEqual([true]);
});

it("asks though it could not be noted, and lets nothing run that would not count", async () => {
  const { waiting, noted, ask, answer, fail } = harness();
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
  await expect(waiting.onStep(start("beside"))).rejects.toThrow("the disk is full");
  answer();
  await expect(again).rejects.toThrow("the disk is full");
});
