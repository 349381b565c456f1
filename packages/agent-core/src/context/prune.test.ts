import { describe, expect, it } from "vitest";
import { assistant, toolCall, user } from "../../test/scripted.ts";
import { findTurnStart } from "../conversation/request-view.ts";
import type { AgentMessage, ToolResultMessage } from "../messages.ts";
import { pruneToolResults } from "./prune.ts";

const result = (id: string, chars: number): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "t",
  content: [{ type: "text", text: "0123456789".repeat(chars / 10) }],
  isError: false,
  timestamp: 1,
});

function conversation(sizes: readonly number[]): AgentMessage[] {
  return [
    user("go"),
    ...sizes.flatMap((chars, i) => [assistant([toolCall(`c${i}`, "t")]), result(`c${i}`, chars)]),
    assistant("done"),
  ];
}

const text = (message: ToolResultMessage | undefined): string =>
  message?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";

describe("pruneToolResults", () => {
  const messages = conversation([10_000, 3_000, 10_000, 10_000, 10_000]);

  it("soft: keeps start and end of long results and notes the omitted length", () => {
    const { changes, tokensSaved } = pruneToolResults(messages, "soft");
    expect([...changes.keys()].map((message) => message.toolCallId)).toEqual(["c0", "c2"]);
    const [first] = changes.values();
    expect(text(first)).toMatch(
      /^(0123456789){150}\n\n\[7000 characters of this old result removed\]\n\n(0123456789){150}$/,
    );
    expect(tokensSaved).toBeGreaterThan(3_000);
  });

  it("hard: replaces whole results", () => {
    const { changes } = pruneToolResults(messages, "hard");
    expect([...changes.keys()].map((message) => message.toolCallId)).toEqual(["c0", "c1", "c2"]);
    expect(new Set([...changes.values()].map(text)).size).toBe(1);
  });

  it("does not change the last turns, other messages or the history", () => {
    const before = structuredClone(messages);
    const { changes } = pruneToolResults(messages, "hard", 1);
    expect([...changes.keys()].map((message) => message.toolCallId)).toEqual(["c0", "c1", "c2", "c3", "c4"]);
    expect(pruneToolResults(messages, "hard", 9).changes.size).toBe(0);
    expect(messages).toEqual(before);
    for (const [from, to] of changes) expect({ ...to, content: [] }).toEqual({ ...from, content: [] });
  });

  it("is deterministic, so the prefix of the request stays the same", () => {
    const texts = (list: AgentMessage[]) => [...pruneToolResults(list, "soft").changes.values()].map(text);
    const longer = [...messages, user("more"), assistant("yes")];
    expect(texts(longer).slice(0, 2)).toEqual(texts(messages));
  });

  it("removes media from old results", () => {
    const image = { type: "image", mimeType: "image/png", source: { kind: "url", url: "x" } } as const;
    const list = conversation([10, 10, 10, 10]);
    const shot: ToolResultMessage = { ...result("c0", 10), content: [image] };
    list[2] = shot;
    const { changes } = pruneToolResults(list, "soft");
    expect(text(changes.get(shot))).toBe("(media of this old result removed to make room)");
  });
});

describe("findTurnStart", () => {
  const messages = [
    user("1"),
    assistant("a"),
    user("2"),
    user("2b"),
    assistant("b"),
    user("3"),
    assistant("c"),
  ];

  it("keeps everything without a limit or below it", () => {
    expect(findTurnStart(messages, undefined)).toBe(0);
    expect(findTurnStart(messages, 3)).toBe(0);
  });

  it("starts at a user's turn, neighbouring messages being one", () => {
    expect(findTurnStart(messages, 2)).toBe(2);
    expect(findTurnStart(messages, 1)).toBe(5);
    expect(findTurnStart(messages, 0)).toBe(5);
  });

  it("drops the summary with the turns after it", () => {
    const summary = { role: "compactionSummary", summary: "s", replaced: 4, timestamp: 0 } as const;
    expect(findTurnStart([summary, ...messages], 3)).toBe(0);
    expect(findTurnStart([summary, ...messages], 1)).toBe(6);
  });
});
