import type { AgentMessage, AssistantMessage, ToolCallBlock } from "@signalbox/agent-core";
import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createLiveView, type TextFilter, toChatMessages } from "../src/index.ts";
import type { ConversationMessage } from "../src/view/chat-messages.ts";

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
const shown = (list: ReturnType<typeof toChatMessages>) => list.map(({ id, role, text }) => [id, role, text]);

it("shows messages under their senders' ids and turns under the ids of live events", () => {
  const conversation = rows("r", user("One?"), user("Two?"), said("Both."));
  const messages = toChatMessages(conversation, {
    notes: new Map([
      [
        "r",
        {
          messages: [
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
  view.apply({ type: "message", origin: "model", message: said("Both.") });
  expect(live).toEqual(["r.0"]);
});

it("shows messages that the model got in a summary as they were sent, each in its place", () => {
  const conversation = rows(
    "r",
    user("[2 earlier messages: One? Two?]", 50),
    user("Three?", 3),
    said("All of it."),
    user("Four?", 4),
    said("That, too."),
  );
  const sent = ["One?", "Two?", "Three?", "Four?"].map((text, place) => ({
    id: `c${place + 1}`,
    at: place + 1,
    text,
  }));
  const notes = new Map([["r", { messages: sent }]]);
  const questions = (from: number) =>
    shown(toChatMessages(conversation.slice(from), { notes })).filter(([, role]) => role === "user");
  expect(questions(0)).toEqual(sent.map(({ id, text }) => [id, "user", text]));
  // The start of the run is older than the rows that are shown.
  expect(questions(2)).toEqual([["c4", "user", "Four?"]]);
});

it("shows several messages of one millisecond, the first of which was summarized", () => {
  const conversation = rows("r", user("[1 earlier message: One?]", 50), user("Two?", 1), said("Both."));
  const sent = ["One?", "Two?"].map((text, place) => ({ id: `c${place + 1}`, at: 1, text }));
  const messages = toChatMessages(conversation, { notes: new Map([["r", { messages: sent }]]) });
  expect(shown(messages).map(([id]) => id)).toEqual(["c1", "c2", "r.0"]);
});

it("shows results after their turn in the order of its calls, and texts that a call sent", () => {
  const asks = said("Looking.", { content: [call("a", "send"), call("b", "ls")], stopReason: "tool_use" });
  const conversation = rows(
    "r",
    asks,
    result("b", "ls", "files"),
    result("a", "send", "sent"),
    said("Done."),
  );
  const getSentText = ({ name, args }: ToolCallBlock) =>
    name === "send" ? String(args?.["message"]) : undefined;
  const messages = toChatMessages(conversation, { notes: new Map(), getSentText });
  expect(shown(messages)).toEqual([
    ["3", "tool", "sent"],
    ["a.sent", "assistant", "Hi."],
    ["2", "tool", "files"],
    ["r.0", "assistant", "Done."],
  ]);
  const failed = toChatMessages(rows("r", asks, result("a", "send", "no", true)), {
    notes: new Map(),
    getSentText,
  });
  expect(shown(failed)).toEqual([["2", "tool", "no"]]);
});

it.each(["max_tokens", "pause"] as const)(
  "shows a turn that continues after %s once, also if the run ended there",
  (stopReason) => {
    const cut = said("Half of it, ", { stopReason });
    const whole = toChatMessages(rows("r", cut, said("and the rest.")), { notes: new Map() });
    expect(shown(whole)).toEqual([["r.0", "assistant", "Half of it, and the rest."]]);
    const half = toChatMessages(rows("r", cut), { notes: new Map() });
    expect(shown(half)).toEqual([["r.0", "assistant", "Half of it, "]]);
  },
);

it("shows of a broken turn what was certain while it was written", () => {
  const filter: TextFilter = {
    getText: ({ content }) =>
      content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
    getVisible: (words) => words.trim(),
    // Such a line may be a directive.
    stream: () => ({ push: (delta) => delta.replace(/__\w*$/, ""), end: () => "" }),
  };
  const read = (stopReason: AssistantMessage["stopReason"]) =>
    shown(toChatMessages(rows("r", said("Well.\n__SIL", { stopReason })), { notes: new Map(), filter }));
  expect(read("aborted")).toEqual([["r.0", "assistant", "Well."]]);
  expect(read("error")).toEqual([["r.0", "assistant", "Well."]]);
  expect(read("end_turn")).toEqual([["r.0", "assistant", "Well.\n__SIL"]]);
});

it("shows why a run failed after its last message", () => {
  const notes = new Map([["r", { messages: [], note: { text: "It failed.", at: 7 } }]]);
  expect(toChatMessages(rows("r", user("Go."), said("I go.")), { notes }).at(-1)).toEqual({
    id: "r.end",
    role: "assistant",
    runId: "r",
    text: "It failed.",
    at: 7,
  });
});

it("shows how long a tool took and where the conversation was reset", () => {
  const asks = said("", { content: [call("a", "ls")], stopReason: "tool_use" });
  const took = { ...result("a", "ls", "files"), durationMs: 7 };
  const earlier = rows("r", user("One?"), asks, took).map((row) => ({ ...row, generation: 0 }));
  const later = rows("s", user("Two?"), user("Three?")).map((row) => ({ ...row, generation: 1 }));
  const messages = toChatMessages([...earlier, ...later], { notes: new Map() });
  expect(messages.map(({ text, begins, call }) => [text, begins, call?.durationMs])).toEqual([
    ["One?", undefined, undefined],
    ["files", undefined, 7],
    ["Two?", true, undefined],
    ["Three?", undefined, undefined],
  ]);
});
