import { describe, expect, it } from "vitest";
import { assistant, lines, toolCall, usage, user } from "../../test/scripted.ts";
import type { AgentMessage, ToolResultMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";
import { Conversation } from "./conversation.ts";
import { convertToLlm } from "./convert.ts";

const result = (id: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});

describe("Conversation", () => {
  it("keeps the vendor's view up to date message by message, the same as made anew", () => {
    const messages: AgentMessage[] = [
      user("hi"),
      assistant([toolCall("a", "t")]),
      result("a"),
      { role: "custom", kind: "note", content: "  ", timestamp: 1 },
      assistant([{ type: "text", text: " " }], { stopReason: "error" }),
      user("again"),
      assistant("yes"),
      { role: "shellRun", command: "ls", output: "x", exitCode: 1, timestamp: 1 },
      assistant("seen"),
    ];
    const grown = new Conversation([]);
    for (const [index, message] of messages.entries()) {
      grown.append(message);
      // No request is made while a call is open.
      if (message.role === "assistant" && message.stopReason === "tool_use") continue;
      const anew = new Conversation(messages.slice(0, index + 1));
      expect(grown.request()).toEqual(anew.request());
    }
  });

  it("gives any number of calls of one id their own, taken ones left alone", () => {
    const conversation = new Conversation([user("hi"), assistant([toolCall("x_3", "t")]), result("x_3")]);
    const many = Array.from({ length: 20_000 }, () => toolCall("x", "t"));
    const ids = conversation
      .withOwnIds(assistant(many))
      .content.map((block) => (block.type === "toolCall" ? block.id : ""));
    expect(ids.slice(0, 4)).toEqual(["x", "x_2", "x_4", "x_5"]);
    expect(new Set(ids).size).toBe(many.length);
  });

  it("gives each request an array of its own", () => {
    const conversation = new Conversation([user("a")]);
    const first = conversation.request();
    conversation.append(assistant("b"));
    conversation.append(user("c"));
    expect(first).toHaveLength(1);
    expect(conversation.request()).toHaveLength(3);
  });

  it("ends each request with something to answer", () => {
    expect(lines(new Conversation([]).request())).toEqual(["user: (Go on.)"]);
    const conversation = new Conversation([user("a"), assistant("b")]);
    expect(lines(conversation.request()).at(-1)).toBe("user: (Go on.)");
    conversation.append(user("c"));
    expect(lines(conversation.request())).toEqual(["user: a", "assistant: b", "user: c"]);
    const paused = new Conversation([user("a"), assistant("b", { stopReason: "pause" })]);
    expect(paused.request()).toHaveLength(2);
  });

  it("starts with a user also when a turn is the first thing left of it", () => {
    const conversation = new Conversation([result("lost")]);
    conversation.request();
    conversation.append(assistant("a"));
    conversation.append(user("b"));
    expect(conversation.request().map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  });

  it("shows what was pruned, without touching the history", () => {
    const long = result("a", "long");
    const conversation = new Conversation([
      user("hi"),
      assistant([toolCall("a", "t")]),
      long,
      assistant("x"),
      user("y"),
    ]);
    conversation.prune(new Map([[long, result("a", "short")]]), 0);
    expect(lines(conversation.request())[2]).toBe("result#a: short");
    expect(conversation.messages[2]).toBe(long);
    conversation.append(assistant("z"));
    expect(lines(conversation.request())[2]).toBe("result#a: short");
  });

  it("counts from the vendor's last report on", () => {
    const conversation = new Conversation([]);
    expect(conversation.tokens(50)).toBe(50);
    conversation.append(user("x".repeat(400)));
    expect(conversation.tokens(50)).toBe(50 + estimateTokens(user("x".repeat(400))));
    conversation.append(assistant("y", { usage: usage(1_000, 20) }));
    expect(conversation.tokens(50)).toBe(1_020);
    conversation.append(user("x".repeat(400)));
    expect(conversation.tokens(50)).toBe(1_020 + estimateTokens(user("x".repeat(400))));
  });

  it("does not trust a report from before a summary", () => {
    const kept = assistant("kept", { usage: usage(90_000, 10), timestamp: 5 });
    const summary = { role: "compactionSummary", summary: "s", replaced: 9, timestamp: 9 } as const;
    const history = [summary, kept, user("next")];
    expect(new Conversation(history).tokens(0)).toBe(estimateTokens(history));
    const since = [...history, assistant("new", { usage: usage(700, 5), timestamp: 10 })];
    expect(new Conversation(since).tokens(0)).toBe(705);
  });

  it("starts later when there are too many turns, a quarter at a time", () => {
    const history: AgentMessage[] = [];
    const conversation = new Conversation([]);
    conversation.configure(undefined, 8);
    const starts: string[] = [];
    for (let i = 1; i <= 14; i++) {
      conversation.append(user(`q${i}`));
      history.push(user(`q${i}`));
      const first = conversation.request()[0];
      starts.push(first?.role === "user" ? String(first.content) : "");
      conversation.append(assistant(`a${i}`));
    }
    expect(starts).toEqual([...Array(8).fill("q1"), "q3", "q3", "q5", "q5", "q7", "q7"]);
  });

  it("puts a summary in the place of what is older", () => {
    const conversation = new Conversation([user("a"), assistant("b"), user("c")]);
    conversation.compact({ role: "compactionSummary", summary: "a, b", replaced: 2, timestamp: 3 }, 2);
    expect(conversation.messages.map((message) => message.role)).toEqual(["compactionSummary", "user"]);
    expect(conversation.request()).toHaveLength(2);
    expect(conversation.tokens(0)).toBe(estimateTokens(conversation.messages));
  });

  it("makes a request valid in which something else stands where the model's turn was", () => {
    const history = [user("a"), assistant([toolCall("1", "t")]), result("1"), user("b")];
    const conversation = new Conversation(history);
    expect(conversation.requestOf(history)).toEqual(history);
    const [first, , , last] = history;
    expect(conversation.requestOf(history.with(1, user("wait")))).toEqual([first, user("wait"), last]);
  });

  it("is not misled by a host's own conversion: it may drop calls, and need not take what is left out", () => {
    const conversation = new Conversation([user("a")]);
    conversation.configure((message) => {
      if (message.role === "custom") throw new Error("never shown");
      if (message.role !== "assistant") return convertToLlm(message);
      return { ...message, content: message.content.filter((block) => block.type !== "toolCall") };
    }, undefined);
    conversation.request();
    const turn = assistant([{ type: "text", text: "so" }, toolCall("1", "secret")]);
    for (const message of [turn, result("1")]) conversation.append(message);
    for (const request of [conversation.request(), conversation.requestOf(conversation.view())])
      expect(request.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    conversation.append({ role: "custom", kind: "note", content: "x", timestamp: 1 });
    conversation.append(user("b"));
    const shown = conversation.view().filter(({ role }) => role !== "custom");
    expect(conversation.requestOf(shown).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const instead = conversation.view().map((message) => (message.role === "custom" ? user("c") : message));
    expect(conversation.requestOf(instead).at(-2)).toEqual(user("c"));
  });

  it("gives no call an id that was made up for the vendor after the conversation was compacted", () => {
    const conversation = new Conversation([user("a"), user("b"), assistant([toolCall("", "t")]), result("")]);
    conversation.compact({ role: "compactionSummary", summary: "a", replaced: 1, timestamp: 1 }, 1);
    conversation.request();
    conversation.append(user("again"));
    conversation.append(conversation.withOwnIds(assistant([toolCall("", "t")])));
    const calls = conversation.messages.at(-1);
    const id =
      calls?.role === "assistant" && calls.content[0]?.type === "toolCall" ? calls.content[0].id : "";
    conversation.append(result(id));
    const ids = conversation
      .request()
      .flatMap(({ role, content }) =>
        role === "assistant" ? content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [],
      );
    expect(new Set(ids).size).toBe(2);
  });
});
