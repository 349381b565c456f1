import { describe, expect, it } from "vitest";
import { assistant, lines, toolCall, usage, user } from "../../test/scripted.ts";
import type { AgentMessage, Message, ToolResultMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";
import { Conversation } from "./conversation.ts";
import { convertToLlm } from "./convert.ts";
import { RequestView } from "./request-view.ts";
import { TokenCount } from "./token-count.ts";

const result = (id: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});

function createRequest(history: readonly AgentMessage[]): readonly Message[] {
  return new RequestView(new Conversation(history)).request();
}

describe("Conversation", () => {
  it("gives calls that share an id unique ids, and keeps used ones", () => {
    const conversation = new Conversation([user("hi"), assistant([toolCall("x_3", "t")]), result("x_3")]);
    const many = Array.from({ length: 20_000 }, () => toolCall("x", "t"));
    const ids = conversation.ids
      .own(assistant(many))
      .content.map((block) => (block.type === "toolCall" ? block.id : ""));
    expect(ids.slice(0, 4)).toEqual(["x", "x_2", "x_4", "x_5"]);
    expect(new Set(ids).size).toBe(many.length);
  });

  it("replaces older messages by a summary", () => {
    const conversation = new Conversation([user("a"), assistant("b"), user("c")]);
    conversation.compact({ role: "compactionSummary", summary: "a, b", replaced: 2, timestamp: 3 }, 2);
    expect(conversation.messages.map((message) => message.role)).toEqual(["compactionSummary", "user"]);
    expect(new RequestView(conversation).request()).toHaveLength(2);
  });

  it("does not reuse an id that was generated before a compaction", () => {
    const conversation = new Conversation([user("a"), user("b"), assistant([toolCall("", "t")]), result("")]);
    const view = new RequestView(conversation);
    conversation.compact({ role: "compactionSummary", summary: "a", replaced: 1, timestamp: 1 }, 1);
    view.request();
    conversation.append(user("again"));
    conversation.append(conversation.ids.own(assistant([toolCall("", "t")])));
    const calls = conversation.messages.at(-1);
    const id =
      calls?.role === "assistant" && calls.content[0]?.type === "toolCall" ? calls.content[0].id : "";
    conversation.append(result(id));
    const ids = view
      .request()
      .flatMap(({ role, content }) =>
        role === "assistant" ? content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [],
      );
    expect(new Set(ids).size).toBe(2);
  });
});

describe("RequestView", () => {
  it("returns a new array for each request", () => {
    const conversation = new Conversation([user("a")]);
    const view = new RequestView(conversation);
    const first = view.request();
    conversation.append(assistant("b"));
    conversation.append(user("c"));
    expect(first).toHaveLength(1);
    expect(view.request()).toHaveLength(3);
  });

  it("contains the same objects in every request", () => {
    const conversation = new Conversation([
      { role: "compactionSummary", summary: "s", replaced: 2, timestamp: 0 },
      user("a"),
    ]);
    const view = new RequestView(conversation);
    const first = view.request();
    conversation.append(assistant("b"));
    conversation.append(user("c"));
    expect(
      view
        .request()
        .slice(0, 2)
        .every((message, index) => message === first[index]),
    ).toBe(true);
  });

  it("ends each request with a message to answer", () => {
    expect(lines(createRequest([]))).toEqual(["user: (Go on.)"]);
    expect(lines(createRequest([user("a"), assistant("b")])).at(-1)).toBe("user: (Go on.)");
    expect(lines(createRequest([user("a"), assistant("b"), user("c")]))).toEqual([
      "user: a",
      "assistant: b",
      "user: c",
    ]);
    expect(createRequest([user("a"), assistant("b", { stopReason: "pause" })])).toHaveLength(2);
  });

  it("starts with a user message even if a turn comes first", () => {
    const request = createRequest([result("lost"), assistant("a"), user("b")]);
    expect(request.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  });

  it("contains pruned results without changing the history", () => {
    const long = result("a", "long");
    const conversation = new Conversation([
      user("hi"),
      assistant([toolCall("a", "t")]),
      long,
      assistant("x"),
      user("y"),
    ]);
    const view = new RequestView(conversation);
    view.prune(new Map([[long, result("a", "short")]]));
    expect(lines(view.request())[2]).toBe("result#a: short");
    expect(conversation.messages[2]).toBe(long);
    conversation.append(assistant("z"));
    expect(lines(view.request())[2]).toBe("result#a: short");
  });

  it("drops a quarter of the turns at a time beyond the limit", () => {
    const conversation = new Conversation([]);
    const view = new RequestView(conversation, undefined, 8);
    const starts: string[] = [];
    for (let i = 1; i <= 14; i++) {
      conversation.append(user(`q${i}`));
      const first = view.request()[0];
      starts.push(first?.role === "user" ? String(first.content) : "");
      conversation.append(assistant(`a${i}`));
    }
    expect(starts).toEqual([...Array(8).fill("q1"), "q3", "q3", "q5", "q5", "q7", "q7"]);
  });

  it("makes a request valid in which something else stands where the model's turn was", () => {
    const history = [user("a"), assistant([toolCall("1", "t")]), result("1"), user("b")];
    const view = new RequestView(new Conversation(history));
    expect(view.request(history)).toEqual(history);
    const [first, , , last] = history;
    expect(view.request(history.with(1, user("wait")))).toEqual([first, user("wait"), last]);
  });

  it("is not misled by a host's own conversion: it may drop calls, and is asked once a message", () => {
    const asked: AgentMessage[] = [];
    const conversation = new Conversation([user("a")]);
    const view = new RequestView(conversation, (message) => {
      asked.push(message);
      if (message.role === "custom") return undefined;
      if (message.role !== "assistant") return convertToLlm(message);
      return { ...message, content: message.content.filter((block) => block.type !== "toolCall") };
    });
    view.request();
    conversation.append(assistant([{ type: "text", text: "so" }, toolCall("1", "secret")]));
    conversation.append(result("1"));
    conversation.append({ role: "custom", kind: "note", content: "x", timestamp: 1 });
    for (const request of [view.request(), view.request(view.messages)]) {
      expect(request.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    }
    expect(new Set(asked).size).toBe(asked.length);
  });
});

describe("TokenCount", () => {
  it("counts from the vendor's last report on", () => {
    const tokens = new TokenCount([]);
    expect(tokens.total(50)).toBe(50);
    tokens.add(user("x".repeat(400)));
    expect(tokens.total(50)).toBe(50 + estimateTokens(user("x".repeat(400))));
    tokens.add(assistant("y", { usage: usage(1_000, 20) }));
    expect(tokens.total(50)).toBe(1_020);
    tokens.add(user("x".repeat(400)));
    expect(tokens.total(50)).toBe(1_020 + estimateTokens(user("x".repeat(400))));
    tokens.subtract(20);
    expect(tokens.total(50)).toBe(1_000 + estimateTokens(user("x".repeat(400))));
    tokens.restart([user("x")]);
    expect(tokens.total(50)).toBe(50 + estimateTokens(user("x")));
  });

  it("ignores the vendor's count from before a summary", () => {
    const kept = assistant("kept", { usage: usage(90_000, 10), timestamp: 5 });
    const summary = { role: "compactionSummary", summary: "s", replaced: 9, timestamp: 9 } as const;
    const history = [summary, kept, user("next")];
    expect(new TokenCount(history).total(0)).toBe(estimateTokens(history));
    const since = [...history, assistant("new", { usage: usage(700, 5), timestamp: 10 })];
    expect(new TokenCount(since).total(0)).toBe(705);
  });
});
