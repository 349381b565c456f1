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

/** One word or two an item. */
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

describe("a conversation as shown", () => {
  it("shows a run: what was sent, streamed text, a tool call, the finished text", () => {
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

  it("puts a finished text where it streamed, even if its tool call was told first", () => {
    const view = after(start, delta("Let me."), calls("t1"), says(reply("a1", "Let me.")));
    expect(told(view)).toEqual(["assistant done: Let me.", "tool running: ls"]);
  });

  it("goes on with a word that somebody spoke into", () => {
    const view = after(start, delta("It is grow"), says(user("m2")), sending, delta("ing."));
    expect(told(view)).toEqual([
      "assistant streaming: It is growing.",
      "user sent: text of m2",
      "user sending: hi",
    ]);
  });

  it("keeps the place on the page (its key) from the first delta to the history", () => {
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

  it("keeps a refused message and says why", () => {
    const problem = { code: "full", message: "Full." };
    const error: ServerFrame = { type: "error", id: "s1", ...c, ...problem };
    const view = after(sending, error, { type: "refused", id: "s1", problem, files: [] });
    expect(view.items).toMatchObject([{ kind: "user", state: "refused", problem }]);
  });

  it("shows a problem of the conversation until it is dismissed", () => {
    const view = after({ type: "error", ...c, code: "model", message: "Down.", remedy: "Wait." });
    expect(told(view)).toEqual(["problem model"]);
    expect(applyChange(view, { type: "dismiss", key: view.items[0]?.key ?? "" }).items).toEqual([]);
  });

  it("leaves nothing running behind when a run ends early", () => {
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

  it("goes on with a run while a command beside it is answered", () => {
    const command: ServerFrame = { type: "run.end", ...c, runId: "command", outcome: "replied" };
    const view = after(start, delta("Half"), command);
    expect(view.run).toBeDefined();
    expect(after(start, delta("Half"), command, end("replied")).run).toBeUndefined();
  });

  it("shows a run that is told again after a reconnect once", () => {
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

  it("takes the end of a run that it missed from the gateway, and its text from the history", () => {
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

  it("keeps what is not history behind the message it followed", () => {
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

  it("shows no empty bubble for a turn that only called tools", () => {
    expect(told(after(start, says(reply("a1", "")), calls("t1")))).toEqual(["tool running: ls"]);
    expect(
      told(after({ type: "history", history: { messages: [reply("a1", " "), tool("t1")], ends: [] } })),
    ).toEqual(["tool done: ls"]);
  });

  it("collects thinking beside the text", () => {
    const view = after(
      start,
      { type: "thinking.delta", ...r, delta: "Hm" },
      delta("Yes"),
      says(reply("a1", "Yes.")),
    );
    expect(view.items).toMatchObject([{ thinking: "Hm", text: "Yes.", state: "done" }]);
  });

  it("has after a reload the ends of runs with their costs and reasons, and where it began anew", () => {
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
    // The same again, as after a reconnect, changes nothing.
    expect(applyChange(view, { type: "history", history: { messages, ends } }).items).toEqual(view.items);
  });

  it("shows with the end of a run why it failed, and marks the message that begins anew", () => {
    const why: ServerFrame = { type: "error", ...r, code: "auth", message: "no such key" };
    const view = after(says(user("m1")), { type: "reset", ...c, messageId: "m1" }, start, why, end("failed"));
    expect(told(view)).toEqual(["user sent: text of m1", "end failed"]);
    expect(view.items[0]).toMatchObject({ begins: true });
    expect(view.items[1]).toMatchObject({ error: { code: "auth", message: "no such key" } });
  });
});
