import type { AssistantMessage, JournalEntry, ToolCallBlock, ToolResultMessage } from "@signalbox/agent-core";
import type { RunId } from "@signalbox/store/types";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createJournal, type Journal } from "../src/journal.ts";
import { type OpenRuns, openRuns } from "./open-runs.ts";

const KEY = "agent:main:web:direct:ann";
const ORIGIN = { api: "anthropic-messages", provider: "anthropic", model: "m" };

const call = (id: string, name: string): ToolCallBlock => ({
  type: "toolCall",
  id,
  name,
  args: {},
  argsText: "{}",
});
const said = (calls: readonly ToolCallBlock[]): AssistantMessage => ({
  role: "assistant",
  content: calls.length === 0 ? [{ type: "text", text: "Done." }] : [...calls],
  ...ORIGIN,
  stopReason: calls.length === 0 ? "end_turn" : "tool_use",
  timestamp: 1,
});
const turn = (...calls: ToolCallBlock[]): JournalEntry => {
  const message = said(calls);
  return { kind: "assistant", turn: 1, messages: [message], pendingToolCalls: calls, message };
};
const result = (id: string, name: string, open: readonly ToolCallBlock[] = []): JournalEntry => {
  const content = [{ type: "text" as const, text: id }];
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content,
    isError: false,
    timestamp: 1,
  };
  return { kind: "toolResult", turn: 1, messages: [message], pendingToolCalls: open, message };
};
const start = (one: ToolCallBlock): JournalEntry => ({
  kind: "toolStart",
  turn: 1,
  messages: [],
  pendingToolCalls: [one],
  call: one,
  args: {},
});

let memory: OpenRuns;
let runId: RunId;
let journal: Journal;

async function kept(): Promise<{ roles: string[]; calls: string[] }> {
  const run = await memory.store.runs.inspect(runId);
  return {
    roles: run?.messages.map(({ message }) => message.role) ?? [],
    calls: run?.calls.map(({ callId, state }) => `${callId} ${state}`) ?? [],
  };
}

beforeEach(async () => {
  memory = await openRuns();
  runId = await memory.begin(KEY, [{ role: "user", content: "Go on.", timestamp: 1 }]);
  journal = createJournal({
    store: memory.store,
    lease: memory.lease,
    runId,
    sessionKey: KEY,
    seqs: [1],
    effects: (tool) => (tool === "exec" ? "external" : "none"),
  });
});
afterEach(() => {
  vi.useRealTimers();
  journal.close();
});

describe("a turn with harmless calls", () => {
  test("is committed together with the last of their results", async () => {
    const [a, b] = [call("a", "read"), call("b", "ls")];
    await journal.onJournalEntry(turn(a, b));
    await journal.onJournalEntry(start(a));
    await journal.onJournalEntry(result("a", "read", [b]));
    expect(await kept()).toEqual({ roles: ["user"], calls: [] });
    await journal.onJournalEntry(result("b", "ls"));
    expect(await kept()).toEqual({ roles: ["user", "assistant", "toolResult", "toolResult"], calls: [] });
  });

  test("is committed without their results if they take longer than 100 ms", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [a, b] = [call("a", "read"), call("b", "read")];
    await journal.onJournalEntry(turn(a, b));
    await journal.onJournalEntry(result("a", "read", [b]));
    vi.advanceTimersByTime(100);
    await journal.flush();
    expect(await kept()).toEqual({ roles: ["user", "assistant", "toolResult"], calls: ["b intent"] });
    await journal.onJournalEntry(result("b", "read"));
    expect(await kept()).toEqual({
      roles: ["user", "assistant", "toolResult", "toolResult"],
      calls: ["b done"],
    });
  });

  test("is committed with its pending calls if the run stops", async () => {
    await journal.onJournalEntry(turn(call("a", "read")));
    await journal.flush();
    expect(await kept()).toEqual({ roles: ["user", "assistant"], calls: ["a intent"] });
  });
});

describe("a call with external effects", () => {
  test("is recorded as started, with everything before it, before it is made", async () => {
    const [a, b] = [call("a", "read"), call("b", "exec")];
    await journal.onJournalEntry(turn(a, b));
    await journal.onJournalEntry(result("a", "read", [b]));
    await journal.onJournalEntry(start(b));
    expect(await kept()).toEqual({ roles: ["user", "assistant", "toolResult"], calls: ["b started"] });
    await journal.onJournalEntry(result("b", "exec"));
    expect(await kept()).toEqual({
      roles: ["user", "assistant", "toolResult", "toolResult"],
      calls: ["b done"],
    });
  });

  test("has its result recorded at once, even if another call of the turn continues", async () => {
    const [a, b] = [call("a", "exec"), call("b", "read")];
    await journal.onJournalEntry(turn(a, b));
    await journal.onJournalEntry(start(a));
    await journal.onJournalEntry(result("a", "exec", [b]));
    expect(await kept()).toEqual({
      roles: ["user", "assistant", "toolResult"],
      calls: ["a done", "b intent"],
    });
  });
});

test("the last turn is returned for the end of the run, with all sequence numbers", async () => {
  await journal.onJournalEntry(turn(call("a", "read")));
  await journal.onJournalEntry(result("a", "read"));
  await journal.onJournalEntry(turn());
  const tail = await journal.end();
  expect(tail.messages.map((message) => message.role)).toEqual(["assistant"]);
  expect(tail.seqs).toEqual([1, 2, 3, 4]);
});

test("a failed background commit rejects the next entry, and nothing is written afterwards", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await journal.onJournalEntry(turn(call("a", "read")));
  memory.fail(true);
  vi.advanceTimersByTime(100);
  await expect(journal.onJournalEntry(result("a", "read"))).rejects.toThrow("the disk is full");
  memory.fail(false);
  await expect(journal.flush()).rejects.toThrow("the disk is full");
  await expect(journal.end()).rejects.toThrow("the disk is full");
  expect(await kept()).toEqual({ roles: ["user"], calls: [] });
});
