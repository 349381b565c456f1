import type { AskAnswer, Step } from "@signalbox/agent-core";
import { parseId, type RunId } from "@signalbox/store";
import { expect, it } from "vitest";
import { createAsking } from "./asking.ts";

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
  let failing = false;
  const lease = { name: "gateway", epoch: 1 };
  const runs = {
    async wait({ waiting }: { readonly waiting: boolean }) {
      if (failing) throw new Error("the disk is full");
      noted.push(waiting);
    },
  };
  const asking = createAsking({ store: { runs }, lease, logger: { warn: () => {} } }, runId);
  return {
    asking,
    noted,
    ask: () => asking.during(() => new Promise<AskAnswer>((resolve) => answers.push(resolve))),
    answer: () => answers.shift()?.({ action: "allow" }),
    fail: (on: boolean) => {
      failing = on;
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

it("notes that a run waits as long as it does nothing else", async () => {
  const { asking, noted, ask, answer } = harness();
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
