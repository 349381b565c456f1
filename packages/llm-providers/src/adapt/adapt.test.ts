import type {
  AssistantMessage,
  Block,
  Message,
  Model,
  ToolResultMessage,
  UserMessage,
} from "@signalbox/agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adapt } from "./adapt.ts";

const model = (api: string, id: string, input: Model["input"] = ["text", "image"]): Model => ({
  id,
  provider: api.split("-", 1)[0] ?? api,
  api,
  contextWindow: 1000,
  maxOutputTokens: 100,
  input,
  thinking: [],
  tools: "native",
});
const CLAUDE = model("anthropic-messages", "claude");
const MISTRAL = model("mistral-chat", "mistral", ["text"]);

const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content, timestamp: 1 });
const said = (
  from: Model,
  content: readonly Block[],
  stopReason: AssistantMessage["stopReason"] = "end_turn",
): AssistantMessage => ({
  role: "assistant",
  content,
  api: from.api,
  provider: from.provider,
  model: from.id,
  stopReason,
  timestamp: 1,
});
const call = (id: string): Block => ({ type: "toolCall", id, name: "ls", args: {}, argsText: "{}" });
const result = (toolCallId: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "ls",
  content: [{ type: "text", text: "ok" }],
  isError: false,
  timestamp: 1,
});
const native = (from: Model, data: string) => ({
  api: from.api,
  provider: from.provider,
  model: from.id,
  data,
});

describe("adapt", () => {
  it("keeps a history of the same model unchanged", () => {
    const history = [
      user("hi"),
      said(
        CLAUDE,
        [{ type: "thinking", text: "hm", native: native(CLAUDE, "sig") }, call("toolu_1")],
        "tool_use",
      ),
      result("toolu_1"),
      said(CLAUDE, [
        { type: "opaque", native: native(CLAUDE, "x") },
        { type: "text", text: "done" },
      ]),
    ];
    const { messages, losses } = adapt(history, CLAUDE);
    expect(losses).toEqual([]);
    expect(messages.map((message, i) => message === history[i])).toEqual([true, true, true, true]);
  });

  it("converts a history for another vendor and lists the losses", () => {
    const history = [
      user([
        { type: "text", text: "look" },
        { type: "image", mimeType: "image/png", source: { kind: "base64", data: "AA==" } },
      ]),
      said(
        CLAUDE,
        [
          { type: "thinking", text: "hm", native: native(CLAUDE, "sig") },
          { type: "text", text: "well", native: native(CLAUDE, "item") },
          { type: "opaque", native: native(CLAUDE, "search") },
          { type: "refusal", text: "no" },
          call("toolu_0123456789"),
        ],
        "tool_use",
      ),
      result("toolu_0123456789"),
    ];
    const { messages, losses } = adapt(history, MISTRAL);
    expect(losses.map((loss) => loss.kind).toSorted()).toEqual(
      ["media", "thinking", "native", "opaque", "refusal", "call_id", "call_id"].toSorted(),
    );
    const [asked, turn, answer] = messages;
    expect(JSON.stringify(asked)).toContain("this model cannot see images");
    expect(turn?.role === "assistant" && turn.content.map((block) => block.type)).toEqual([
      "text",
      "text",
      "toolCall",
    ]);
    const made = turn?.role === "assistant" ? turn.content.at(-1) : undefined;
    expect(made?.type === "toolCall" && made.id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(answer?.role === "toolResult" && answer.toolCallId).toBe(made?.type === "toolCall" ? made.id : "");
    expect(adapt(messages, MISTRAL)).toEqual({ messages, losses: [] });
  });

  it("converts another model's thinking into text if requested", () => {
    const history = [
      user("hi"),
      said(CLAUDE, [{ type: "thinking", text: "hm", native: native(CLAUDE, "s") }]),
    ];
    const { messages } = adapt(history, MISTRAL, { foreignThinking: "text" });
    expect(messages[1]).toMatchObject({ content: [{ type: "text", text: "<thinking>\nhm\n</thinking>" }] });
    expect(adapt(history, MISTRAL).messages).toHaveLength(1);
  });

  it("adds a missing result and drops a result without a call", () => {
    const { messages, losses } = adapt(
      [
        user("hi"),
        result("gone"),
        said(CLAUDE, [call("a"), call("b")], "tool_use"),
        result("b"),
        user("and?"),
      ],
      CLAUDE,
    );
    expect(messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "user",
    ]);
    expect(messages[2]).toMatchObject({ toolCallId: "a", isError: true });
    expect(messages[3]).toMatchObject({ toolCallId: "b", isError: false });
    expect(losses.map((loss) => loss.kind)).toEqual(["orphan_result", "orphan_call"]);
  });

  it("drops a call that was cut, and a turn that contains nothing else", () => {
    const cut: Block = {
      type: "toolCall",
      id: "a",
      name: "ls",
      args: undefined,
      argsText: '{"p',
      argsError: "cut",
    };
    const { messages } = adapt([user("hi"), said(CLAUDE, [cut], "error"), user("again")], CLAUDE);
    expect(messages.map((message) => message.role)).toEqual(["user", "user"]);
  });

  it("starts with a user message", () => {
    expect(adapt([said(CLAUDE, [{ type: "text", text: "hi" }])], CLAUDE).messages[0]?.role).toBe("user");
  });

  it("follows every call with exactly one result, and converts a converted history into itself", () => {
    const ids = fc.constantFrom("a", "b", "toolu_x", "has space", "");
    const block = fc.oneof(
      ids.map(call),
      fc.constant<Block>({ type: "text", text: "t" }),
      fc.constant<Block>({ type: "thinking", text: "h", native: native(CLAUDE, "s") }),
      ids.map<Block>((id) => ({
        type: "toolCall",
        id,
        name: "ls",
        args: undefined,
        argsText: "{",
        argsError: "cut",
      })),
    );
    const stop = fc.constantFrom<AssistantMessage["stopReason"]>("tool_use", "end_turn", "error", "aborted");
    const from = fc.constantFrom(CLAUDE, MISTRAL);
    const message = fc.oneof<fc.Arbitrary<Message>[]>(
      fc.constant(user("u")),
      ids.map(result),
      fc
        .tuple(from, fc.array(block, { maxLength: 3 }), stop)
        .map(([who, content, why]) => said(who, content, why)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), from, (history, target) => {
        const before = structuredClone(history);
        const { messages } = adapt(history, target);
        expect(history).toEqual(before);
        const seen = new Set<string>();
        messages.forEach((one, at) => {
          if (one.role === "toolResult") return;
          const calls =
            one.role === "assistant" ? one.content.filter((part) => part.type === "toolCall") : [];
          let next = at + 1;
          for (const each of calls) {
            expect(seen.has(each.id)).toBe(false);
            seen.add(each.id);
            const answer = messages[next++];
            expect(answer?.role === "toolResult" && answer.toolCallId).toBe(each.id);
          }
          expect(messages[next]?.role).not.toBe("toolResult");
        });
        expect(adapt(messages, target).messages).toEqual(messages);
      }),
    );
  });
});
