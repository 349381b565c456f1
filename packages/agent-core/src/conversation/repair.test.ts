import { describe, expect, it } from "vitest";
import { assistant, lines, toolCall, user } from "../../test/scripted.ts";
import type { AgentMessage, Message, ToolResultMessage } from "../messages.ts";
import { type RepairChange, repairHistory } from "./repair.ts";

const result = (id: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});
const calls = (...ids: string[]) => assistant(ids.map((id) => toolCall(id, "t")));

function repair(messages: readonly Message[]): { lines: string[]; kinds: RepairChange["kind"][] } {
  const { messages: repaired, changes } = repairHistory(messages);
  return { lines: lines(repaired), kinds: changes.map((change) => change.kind) };
}

describe("repairHistory", () => {
  it("returns the same array if nothing is wrong", () => {
    const messages: AgentMessage[] = [
      user("hi"),
      calls("a", "b"),
      result("a"),
      result("b"),
      assistant("done"),
      { role: "compactionSummary", summary: "s", replaced: 3, timestamp: 1 },
      assistant("x", { stopReason: "pause" }),
      assistant("y"),
      user("bye"),
    ];
    const repaired = repairHistory(messages);
    expect(repaired.changes).toEqual([]);
    expect(repaired.messages).toBe(messages);
  });

  it("adds a missing result after its call", () => {
    expect(repair([user("hi"), calls("a", "b", "c"), result("b"), user("next")])).toEqual({
      lines: [
        "user: hi",
        "assistant: →t#a →t#b →t#c",
        expect.stringMatching(/^result#a: No result of this call was recorded/),
        "result#b: ok",
        expect.stringMatching(/^result#c: No result/),
        "user: next",
      ],
      kinds: ["answered_call", "answered_call"],
    });
  });

  it("drops results without a call and duplicate results", () => {
    expect(
      repair([user("hi"), result("x"), calls("a"), result("a"), result("a", "again"), result("y")]),
    ).toEqual({
      lines: ["user: hi", "assistant: →t#a", "result#a: ok"],
      kinds: ["orphan_result", "duplicate_result", "orphan_result"],
    });
  });

  it("moves results after their calls, in order, before other messages", () => {
    expect(repair([user("hi"), calls("a", "b"), user("wait"), result("b", "B"), result("a", "A")])).toEqual({
      lines: ["user: hi", "assistant: →t#a →t#b", "result#a: A", "result#b: B", "user: wait"],
      kinds: ["reordered"],
    });
  });

  it("makes call ids unique in calls and results", () => {
    const repaired = repair([
      user("hi"),
      calls("0"),
      result("0", "one"),
      calls("0"),
      result("0", "two"),
      calls("", "x"),
      result("x"),
    ]);
    expect(repaired.lines).toEqual([
      "user: hi",
      "assistant: →t#0",
      "result#0: one",
      "assistant: →t#0_2",
      "result#0_2: two",
      "assistant: →t#call_2 →t#x",
      expect.stringMatching(/^result#call_2: No result/),
      "result#x: ok",
    ]);
  });

  it("assigns the results of calls that share an id in order", () => {
    expect(repair([user("hi"), calls("a", "a"), result("a", "one"), result("a", "two")])).toEqual({
      lines: ["user: hi", "assistant: →t#a →t#a_2", "result#a: one", "result#a_2: two"],
      kinds: ["call_id"],
    });
    expect(repair([user("hi"), calls("a", "a"), result("a", "one")])).toEqual({
      lines: [
        "user: hi",
        "assistant: →t#a →t#a_2",
        "result#a: one",
        expect.stringMatching(/^result#a_2: No result/),
      ],
      kinds: ["call_id", "answered_call"],
    });
  });

  it("drops a call with incomplete arguments, unless it has a result", () => {
    const half = { type: "toolCall", id: "h", name: "t", args: undefined, argsText: "{" } as const;
    const broken = assistant([{ type: "text", text: "so" }, half], { stopReason: "error" });
    expect(repair([user("hi"), broken])).toEqual({
      lines: ["user: hi", "assistant: so"],
      kinds: ["dropped_call"],
    });
    expect(repair([user("hi"), assistant([half], { stopReason: "error" })]).lines).toEqual(["user: hi"]);
    const answered = [user("hi"), broken, result("h")];
    expect(repairHistory(answered).messages).toBe(answered);
  });

  it("sets the tool name of a result to that of its call", () => {
    const misnamed = { ...result("a"), toolName: "other" };
    const { messages, changes } = repairHistory([user("hi"), calls("a"), misnamed]);
    expect(messages[2]).toEqual(result("a"));
    expect(changes).toEqual([{ kind: "tool_name", index: 2, callId: "a" }]);
  });

  it("creates new ids in the requested format", () => {
    const { messages } = repairHistory(
      [user("hi"), calls("a", "a"), result("a", "one"), result("a", "two")],
      (id) => id.replaceAll("_", "-"),
    );
    expect(lines(messages)).toEqual([
      "user: hi",
      "assistant: →t#a →t#a-2",
      "result#a: one",
      "result#a-2: two",
    ]);
  });

  it("starts with a user message and separates model turns", () => {
    expect(repair([assistant("hello"), assistant("still there?"), user("yes")])).toEqual({
      lines: [
        "user: (The conversation before this point is not available.)",
        "assistant: hello",
        "user: (no reply)",
        "assistant: still there?",
        "user: yes",
      ],
      kinds: ["user_added", "user_added"],
    });
  });

  it("removes turns and texts that vendors reject as empty", () => {
    const native = { api: "x", provider: "x", model: "x", data: "signature" };
    const messages: Message[] = [
      user("  "),
      assistant([{ type: "text", text: "\n" }]),
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "hi" },
        ],
        timestamp: 1,
      },
      assistant([{ type: "thinking", text: "hmm" }], { stopReason: "max_tokens" }),
      assistant([
        { type: "text", text: " " },
        { type: "text", text: "yes" },
      ]),
      { role: "user", content: [], timestamp: 1 },
      assistant([{ type: "text", text: "", native }]),
    ];
    expect(repair(messages).lines).toEqual([
      "user: (no text)",
      "user: hi",
      "assistant: yes",
      "user: (no text)",
      "assistant: ",
    ]);
  });

  it("keeps the space between two texts, such as sentences with citations", () => {
    const cited = { type: "citation", text: "page", url: "https://example.org" } as const;
    const said = [
      { type: "text", text: "One." },
      cited,
      { type: "text", text: "\n\n" },
      { type: "text", text: "Two." },
      cited,
    ] as const;
    const messages = [user("hi"), assistant(said)];
    expect(repairHistory(messages).messages).toBe(messages);
    const around = assistant([
      { type: "text", text: " " },
      ...said,
      { type: "text", text: "" },
      { type: "text", text: " " },
    ]);
    expect(repairHistory([user("hi"), around]).messages[1]).toMatchObject({ content: said });
  });

  it("keeps the parts of a broken turn that can be replayed", () => {
    const native = { api: "x", provider: "x", model: "x", data: "signature" };
    const broken = assistant(
      [
        { type: "thinking", text: "unsigned" },
        { type: "thinking", text: "signed", native },
        { type: "text", text: "so far" },
      ],
      { stopReason: "aborted" },
    );
    const [, kept] = repairHistory([user("hi"), broken]).messages;
    expect(
      kept?.role === "assistant" && kept.content.map((block) => block.type === "thinking" && block.text),
    ).toEqual(["signed", false]);
    const whole = [user("hi"), { ...broken, stopReason: "end_turn" as const }];
    expect(repairHistory(whole).messages).toBe(whole);
  });

  it("reports the index of each changed message", () => {
    expect(repairHistory([user("hi"), calls("a"), user("x"), result("zzz")]).changes).toEqual([
      { kind: "answered_call", index: 1, callId: "a" },
      { kind: "orphan_result", index: 3, callId: "zzz" },
    ]);
  });
});
