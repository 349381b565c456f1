import type { ChatMessage, ServerFrame } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import type { Item } from "./item.ts";
import { applyChange, type Change, EMPTY, isBusy, type View } from "./view.ts";

const c = { conversation: "c1" };
const r = { ...c, runId: "r1" };

function after(...changes: (Change | ServerFrame)[]): View {
  return changes.reduce<View>(
    (view, change) => applyChange(view, isChange(change) ? change : { type: "frame", frame: change }),
    EMPTY,
  );
}

function isChange(value: Change | ServerFrame): value is Change {
  return ["frame", "history", "sending", "refused", "problem", "dismiss"].includes(value.type);
}

/** Describes each item in one or two words. */
function told(view: View): string[] {
  return view.items.map(word);
}

function word(item: Item): string {
  switch (item.kind) {
    case "user":
    case "assistant":
      return `${item.kind} ${item.state}: ${item.text}`;
    case "tool":
      return `tool ${item.state}: ${item.name}`;
    case "end":
      return `end ${item.outcome}`;
    case "problem":
      return `problem ${item.problem.code}`;
  }
}

const user = (id: string): ChatMessage => ({ id, role: "user", text: `text of ${id}`, at: 1 });
const reply = (id: string, text = `text of ${id}`): ChatMessage => ({
  id,
  role: "assistant",
  text,
  at: 2,
  runId: "r1",
});
const tool = (id: string): ChatMessage => ({
  id: `m-${id}`,
  role: "tool",
  text: "a.txt",
  at: 2,
  runId: "r1",
  call: { id, name: "ls", args: {}, isError: false },
});
const delta = (text: string): ServerFrame => ({ type: "text.delta", ...r, delta: text });
const start: ServerFrame = { type: "run.start", ...r };
const calls = (id: string): ServerFrame => ({ type: "tool.start", ...r, call: { id, name: "ls", args: {} } });
const working = (id: string, text: string): ServerFrame => ({
  type: "tool.update",
  ...r,
  call: { id, name: "ls", text },
});
const called = (id: string, isError = false): ServerFrame => ({
  type: "tool.end",
  ...r,
  call: { id, name: "ls", isError, text: "x", durationMs: 1 },
});
const says = (message: ChatMessage): ServerFrame => ({ type: "message", ...c, message });
const end = (outcome: "replied" | "failed" | "aborted" = "replied"): ServerFrame => ({
  type: "run.end",
  ...r,
  outcome,
});
const sending: Change = { type: "sending", id: "s1", text: "hi" };
const accepted = (duplicate = false): ServerFrame => ({
  type: "accepted",
  ...c,
  id: "s1",
  messageId: "m1",
  duplicate,
});

describe("applyChange", () => {
  it("shows the sent message, streamed text, a tool call and the finished text", () => {
    const whole = [
      sending,
      accepted(),
      start,
      delta("Let"),
      delta(" me."),
      says(reply("a1", "Let me.")),
      calls("t1"),
    ];
    expect(told(after(...whole))).toEqual(["user sent: hi", "assistant done: Let me.", "tool running: ls"]);
    expect(isBusy(after(...whole))).toBe(true);
    expect(after(...whole, working("t1", "1 of 9")).items.at(-1)).toMatchObject({
      state: "running",
      text: "1 of 9",
    });
    const done = after(...whole, called("t1"), delta("Do"), says(reply("a2", "Done.")), end());
    expect(told(done)).toEqual([
      "user sent: hi",
      "assistant done: Let me.",
      "tool done: ls",
      "assistant done: Done.",
      "end replied",
    ]);
    expect(isBusy(done)).toBe(false);
  });

  it("replaces streamed text in place even if a tool call follows it", () => {
    const view = after(start, delta("Let me."), calls("t1"), says(reply("a1", "Let me.")));
    expect(told(view)).toEqual(["assistant done: Let me.", "tool running: ls"]);
  });

  it("continues a streaming text above a message that was sent meanwhile", () => {
    const view = after(start, delta("It is grow"), says(user("m2")), sending, delta("ing."));
    expect(told(view)).toEqual([
      "assistant streaming: It is growing.",
      "user sent: text of m2",
      "user sending: hi",
    ]);
  });

  it("keeps the key of an item from the first delta to the history", () => {
    const streaming = after(start, delta("Do"));
    const read = after(start, delta("Do"), says(reply("a1")), {
      type: "history",
      history: { messages: [reply("a1")], ends: [] },
    });
    expect(read.items.map(({ key }) => key)).toEqual(streaming.items.map(({ key }) => key));
  });

  it.each<[string, (Change | ServerFrame)[]]>([
    ["the answer first", [accepted(), says(user("m1"))]],
    ["the message first", [says(user("m1")), accepted()]],
    ["the history first", [{ type: "history", history: { messages: [user("m1")], ends: [] } }, accepted()]],
    ["a repetition", [accepted(), accepted(true)]],
  ])("shows one's own message once: %s", (_, frames) => {
    expect(after(sending, ...frames).items).toMatchObject([{ kind: "user", id: "m1", state: "sent" }]);
  });

  it("keeps a refused message with the reason", () => {
    const problem = { code: "full", message: "Full." };
    const error: ServerFrame = { type: "error", id: "s1", ...c, ...problem };
    const view = after(sending, error, { type: "refused", id: "s1", problem, files: [] });
    expect(view.items).toMatchObject([{ kind: "user", state: "refused", problem }]);
  });

  it("shows an error until it is dismissed", () => {
    const view = after({ type: "error", ...c, code: "model", message: "Down.", remedy: "Wait." });
    expect(told(view)).toEqual(["problem model"]);
    expect(applyChange(view, { type: "dismiss", key: view.items[0]?.key ?? "" }).items).toEqual([]);
  });

  it("ends streaming text and tool calls when a run ends early", () => {
    expect(told(after(start, delta("Half"), calls("t1"), end("aborted")))).toEqual([
      "assistant cut: Half",
      "tool lost: ls",
      "end aborted",
    ]);
    expect(told(after(start, calls("t1"), called("t1", true), end("failed")))).toEqual([
      "tool failed: ls",
      "end failed",
    ]);
  });

  it("keeps the current run while a chat command ends", () => {
    const command: ServerFrame = { type: "run.end", ...c, runId: "command", outcome: "replied" };
    const view = after(start, delta("Half"), command);
    expect(view.run).toBeDefined();
    expect(after(start, delta("Half"), command, end("replied")).run).toBeUndefined();
  });

  it("does not duplicate a run that is repeated after a reconnect", () => {
    const first = [start, delta("One."), says(reply("a1", "One.")), calls("t1"), called("t1"), delta("Tw")];
    const again = [start, delta("One."), says(reply("a1", "One.")), calls("t1"), called("t1"), delta("Two")];
    const busy: ServerFrame = { type: "subscribed", ...c, busy: true };
    const history: Change = {
      type: "history",
      history: { messages: [reply("a1", "One."), tool("t1")], ends: [] },
    };
    const expected = ["assistant done: One.", "tool done: ls", "assistant streaming: Two"];
    expect(told(after(...first, busy, ...again))).toEqual(expected);
    expect(told(after(...first, busy, history, ...again))).toEqual(expected);
    expect(told(after(...first, busy, ...again, history))).toEqual(expected);
    expect(told(after(busy, ...again, history))).toEqual(expected);
  });

  it("restores a missed run from subscribed and the history", () => {
    const idle: ServerFrame = {
      type: "subscribed",
      ...c,
      busy: false,
      lastRun: { runId: "r1", outcome: "replied" },
    };
    const history: Change = { type: "history", history: { messages: [user("m1"), reply("a1")], ends: [] } };
    const view = after(sending, accepted(), start, delta("text"), idle, history);
    expect(told(view)).toEqual(["user sent: text of m1", "assistant done: text of a1", "end replied"]);
    expect(isBusy(view)).toBe(false);
  });

  it("keeps items that are not in the history after the message they followed", () => {
    const problem: ServerFrame = { type: "error", ...c, code: "model", message: "Down." };
    const history: Change = {
      type: "history",
      history: { messages: [user("m0"), user("m1"), user("m2")], ends: [] },
    };
    const view = after(says(user("m1")), problem, says(user("m2")), sending, history);
    expect(told(view)).toEqual([
      "user sent: text of m0",
      "user sent: text of m1",
      "problem model",
      "user sent: text of m2",
      "user sending: hi",
    ]);
  });

  it("shows no empty message for a turn that only called tools", () => {
    expect(told(after(start, says(reply("a1", "")), calls("t1")))).toEqual(["tool running: ls"]);
    expect(
      told(after({ type: "history", history: { messages: [reply("a1", " "), tool("t1")], ends: [] } })),
    ).toEqual(["tool done: ls"]);
  });

  it("collects thinking separately from the text", () => {
    const view = after(
      start,
      { type: "thinking.delta", ...r, delta: "Hm" },
      delta("Yes"),
      says(reply("a1", "Yes.")),
    );
    expect(view.items).toMatchObject([{ thinking: "Hm", text: "Yes.", state: "done" }]);
  });

  it("restores outcomes, costs, errors and context resets after a reload", () => {
    const error = { code: "auth", message: "no such key", remedy: "Check it." };
    const usage = { inputTokens: 1, outputTokens: 2 };
    const messages = [
      { ...user("m1"), runId: "r1" },
      reply("a1"),
      { ...user("m2"), runId: "r2", begins: true as const },
    ];
    const ends = [
      { runId: "r2", outcome: "failed" as const, error },
      { runId: "r1", outcome: "replied" as const, usage },
    ];
    const view = after({ type: "history", history: { messages, ends } });
    expect(told(view)).toEqual([
      "user sent: text of m1",
      "assistant done: text of a1",
      "end replied",
      "user sent: text of m2",
      "end failed",
    ]);
    expect(view.items[2]).toMatchObject({ usage });
    expect(view.items[3]).toMatchObject({ begins: true });
    expect(view.items[4]).toMatchObject({ error });
    // Repeated frames, for instance after a reconnect, change nothing.
    expect(applyChange(view, { type: "history", history: { messages, ends } }).items).toEqual(view.items);
  });

  it("shows the error of a failed run and marks a context reset", () => {
    const why: ServerFrame = { type: "error", ...r, code: "auth", message: "no such key" };
    const view = after(says(user("m1")), { type: "reset", ...c, messageId: "m1" }, start, why, end("failed"));
    expect(told(view)).toEqual(["user sent: text of m1", "end failed"]);
    expect(view.items[0]).toMatchObject({ begins: true });
    expect(view.items[1]).toMatchObject({ error: { code: "auth", message: "no such key" } });
  });
});
