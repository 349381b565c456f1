import type { AskAnswer, JournalEntry } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { createWaitingRuns } from "../src/index.ts";
import { unknownRunId } from "./open-runs.ts";

const call = (id: string) => ({ type: "toolCall", id, name: "t", args: {}, argsText: "{}" }) as const;

function start(id: string): JournalEntry {
  return { kind: "toolStart", turn: 1, messages: [], pendingToolCalls: [], call: call(id), args: {} };
}

function end(toolCallId: string): JournalEntry {
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
  const slotStates: boolean[] = [];
  const slot = {
    standBy(on: boolean) {
      if (slotStates.at(-1) !== on) slotStates.push(on);
    },
  };
  const waiting = waitingRuns.track(runId, slot);
  return {
    waiting,
    noted,
    /** The states of the slot, each time it changed. */
    slotStates,
    clearAll: waitingRuns.clearAll,
    /** Starts the next attempt of the run. */
    async again() {
      await waitingRuns.clear(runId);
      return waitingRuns.track(runId, slot);
    },
    ask: () => waiting.during(() => new Promise<AskAnswer>((resolve) => answers.push(resolve))),
    answer: () => answers.shift()?.({ action: "allow" }),
    fail: (on: boolean, error = new Error("the disk is full")) => {
      failing = on && error;
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

it("records a run as waiting while it does nothing else", async () => {
  const { waiting, noted, slotStates, ask, answer } = harness();
  await waiting.onJournalEntry(start("before"));
  await waiting.onJournalEntry(end("before"));
  expect(noted).toEqual([]);
  const first = ask();
  await soon();
  const second = ask();
  await soon();
  expect(noted).toEqual([true]);
  // A call that runs meanwhile may crash the process, so its start is recorded first.
  await waiting.onJournalEntry(start("beside"));
  expect(noted).toEqual([true, false]);
  await waiting.onJournalEntry(end("beside"));
  expect(noted).toEqual([true, false, true]);
  answer();
  expect(await first).toEqual({ action: "allow" });
  expect(noted).toHaveLength(3);
  answer();
  await second;
  expect(noted).toEqual([true, false, true, false]);
  // The slot is free in exactly these phases.
  expect(slotStates).toEqual(noted);
});

it("takes its slot back after the response, even if asking or recording fails", async () => {
  const { waiting, slotStates, ask, answer, fail } = harness();
  await expect(waiting.during(() => Promise.reject(new Error("nobody there")))).rejects.toThrow("nobody");
  expect(slotStates).toEqual([true, false]);
  fail(true);
  const asked = ask();
  await soon();
  expect(slotStates).toEqual([true, false, true]);
  answer();
  await asked;
  expect(slotStates).toEqual([true, false, true, false]);
});

it("is recorded as waiting once, however often recording the end fails", async () => {
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

it("rejects further entries until the end of the waiting is recorded", async () => {
  const { waiting, noted, ask, answer, fail } = harness();
  const asked = ask();
  await soon();
  fail(true);
  answer();
  await expect(asked).rejects.toThrow("the disk is full");
  await expect(waiting.onJournalEntry(start("next"))).rejects.toThrow("the disk is full");
  fail(false);
  await waiting.onJournalEntry(start("another"));
  expect(noted).toEqual([true, false]);
});

it("clearAll ends every waiting state once and ignores runs that have ended", async () => {
  const open = harness();
  void open.ask();
  await soon();
  await open.clearAll();
  expect(open.noted).toEqual([true, false]);
  await open.clearAll();
  open.answer();
  await soon();
  expect(open.noted).toEqual([true, false]);

  const ended = harness();
  void ended.ask();
  await soon();
  ended.fail(true);
  await expect(ended.clearAll()).rejects.toThrow("the disk is full");
  ended.fail(true, Object.assign(new Error("it has ended"), { code: "conflict" }));
  await ended.clearAll();
  ended.fail(false);
  await ended.clearAll();
  expect(ended.noted).toEqual([true]);
});

it("asks although the waiting could not be recorded, and rejects entries that would not count", async () => {
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
  await expect(waiting.onJournalEntry(start("beside"))).rejects.toThrow("the disk is full");
  answer();
  await expect(again).rejects.toThrow("the disk is full");
});
