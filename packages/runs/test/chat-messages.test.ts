import type { AgentMessage, AssistantMessage, ToolCallBlock } from "@signalbox/agent-core";
import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { type ConversationMessage, chatMessages, createLiveView, type Reading } from "../src/index.ts";

const ORIGIN = { api: "a", provider: "p", model: "m", timestamp: 0 } as const;
const call = (id: string, name: string): ToolCallBlock => ({
  type: "toolCall",
  id,
  name,
  args: { message: "Hi." },
  argsText: "{}",
});
const said = (text: string, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  ...ORIGIN,
  stopReason: "end_turn",
  ...more,
});
const result = (id: string, toolName: string, text: string, isError = false): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName,
  isError,
  timestamp: 0,
  content: [{ type: "text", text }],
});
const user = (content: string, timestamp = 0): AgentMessage => ({ role: "user", content, timestamp });
const rows = (runId: string, ...messages: AgentMessage[]): ConversationMessage[] =>
  messages.map((message, index) => ({ seq: index + 1, message, runId, at: index }));
const shown = (list: ReturnType<typeof chatMessages>) => list.map(({ id, role, text }) => [id, role, text]);

it("has what was asked under the ids of those who asked, and turns under those of live events", () => {
  const conversation = rows("r", user("One?"), user("Two?"), said("Both."));
  const messages = chatMessages(conversation, {
    notes: new Map([
      [
        "r",
        {
          asked: [
            { id: "c1", at: 0 },
            { id: "c2", at: 0, text: "/two" },
          ],
        },
      ],
    ]),
  });
  expect(shown(messages)).toEqual([
    ["c1", "user", "One?"],
    ["c2", "user", "/two"],
    ["r.0", "assistant", "Both."],
  ]);
  const live: string[] = [];
  const publish = (event: LiveEvent) => event.type === "message" && live.push(event.message.id);
  const view = createLiveView({ runId: "r", publish, retract: () => {}, now: () => 0 });
  view.see({ type: "message", origin: "model", message: said("Both.") });
  expect(live).toEqual(["r.0"]);
});

it("has what the model was told in short as it was asked, and each question in its place", () => {
  const conversation = rows(
    "r",
    user("[2 earlier messages: One? Two?]", 50),
    user("Three?", 3),
    said("All of it."),
    user("Four?", 4),
    said("That, too."),
  );
  const asked = ["One?", "Two?", "Three?", "Four?"].map((text, place) => ({
    id: `c${place + 1}`,
    at: place + 1,
    text,
  }));
  const notes = new Map([["r", { asked }]]);
  const questions = (from: number) =>
    shown(chatMessages(conversation.slice(from), { notes })).filter(([, role]) => role === "user");
  expect(questions(0)).toEqual(asked.map(({ id, text }) => [id, "user", text]));
  // The beginning of the run is older than what is shown.
  expect(questions(2)).toEqual([["c4", "user", "Four?"]]);
});

it("has each of several questions of one moment, of which the first was told in short", () => {
  const conversation = rows("r", user("[1 earlier message: One?]", 50), user("Two?", 1), said("Both."));
  const asked = ["One?", "Two?"].map((text, place) => ({ id: `c${place + 1}`, at: 1, text }));
  const messages = chatMessages(conversation, { notes: new Map([["r", { asked }]]) });
  expect(shown(messages).map(([id]) => id)).toEqual(["c1", "c2", "r.0"]);
});

it("has results behind the turn that asked for them, in its order, and what a call said in the agent's name", () => {
  const asks = said("Looking.", { content: [call("a", "send"), call("b", "ls")], stopReason: "tool_use" });
  const conversation = rows(
    "r",
    asks,
    result("b", "ls", "files"),
    result("a", "send", "sent"),
    said("Done."),
  );
  const sentBy = ({ name, args }: ToolCallBlock) => (name === "send" ? String(args?.["message"]) : undefined);
  const messages = chatMessages(conversation, { notes: new Map(), sentBy });
  expect(shown(messages)).toEqual([
    ["3", "tool", "sent"],
    ["a.sent", "assistant", "Hi."],
    ["2", "tool", "files"],
    ["r.0", "assistant", "Done."],
  ]);
  const failed = chatMessages(rows("r", asks, result("a", "send", "no", true)), { notes: new Map(), sentBy });
  expect(shown(failed)).toEqual([["2", "tool", "no"]]);
});

it.each(["max_tokens", "pause"] as const)(
  "has a turn once that went on after %s, also where the run ended there",
  (stopReason) => {
    const cut = said("Half of it, ", { stopReason });
    const whole = chatMessages(rows("r", cut, said("and the rest.")), { notes: new Map() });
    expect(shown(whole)).toEqual([["r.0", "assistant", "Half of it, and the rest."]]);
    const half = chatMessages(rows("r", cut), { notes: new Map() });
    expect(shown(half)).toEqual([["r.0", "assistant", "Half of it, "]]);
  },
);

it("has of a turn that broke off what was certain by then", () => {
  const reading: Reading = {
    said: ({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
    visible: (words) => words.trim(),
    // A line that begins like that may be a directive.
    stream: () => ({ push: (delta) => delta.replace(/__\w*$/, ""), end: () => "" }),
  };
  const read = (stopReason: AssistantMessage["stopReason"]) =>
    shown(chatMessages(rows("r", said("Well.\n__SIL", { stopReason })), { notes: new Map(), reading }));
  expect(read("aborted")).toEqual([["r.0", "assistant", "Well."]]);
  expect(read("error")).toEqual([["r.0", "assistant", "Well."]]);
  expect(read("end_turn")).toEqual([["r.0", "assistant", "Well.\n__SIL"]]);
});

it("says behind its last message why a run failed", () => {
  const notes = new Map([["r", { asked: [], note: { text: "It failed.", at: 7 } }]]);
  expect(chatMessages(rows("r", user("Go."), said("I go.")), { notes }).at(-1)).toEqual({
    id: "r.end",
    role: "assistant",
    runId: "r",
    text: "It failed.",
    at: 7,
  });
});

it("has the time that a tool took, and where the conversation began anew", () => {
  const asks = said("", { content: [call("a", "ls")], stopReason: "tool_use" });
  const took = { ...result("a", "ls", "files"), durationMs: 7 };
  const earlier = rows("r", user("One?"), asks, took).map((row) => ({ ...row, generation: 0 }));
  const later = rows("s", user("Two?"), user("Three?")).map((row) => ({ ...row, generation: 1 }));
  const messages = chatMessages([...earlier, ...later], { notes: new Map() });
  expect(messages.map(({ text, begins, call }) => [text, begins, call?.durationMs])).toEqual([
    ["One?", undefined, undefined],
    ["files", undefined, 7],
    ["Two?", true, undefined],
    ["Three?", undefined, undefined],
  ]);
});
