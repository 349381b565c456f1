import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistant, toEvents, toolCall } from "../test/scripted.ts";
import type { JsonValue } from "./json.ts";
import { parsePartialJson } from "./partial-json.ts";
import { Snapshot } from "./snapshot.ts";

describe("Snapshot", () => {
  const message = assistant([
    { type: "thinking", text: "hmm, well" },
    { type: "text", text: "Hello there" },
    toolCall("a", "read", { path: "x.txt" }),
  ]);

  it("contains the complete blocks once all have arrived", () => {
    const snapshot = new Snapshot();
    for (const event of toEvents(message, 5)) snapshot.apply(event);
    expect(snapshot.blocks).toEqual(message.content);
    expect(snapshot.text).toBe("Hello there");
  });

  it("shows blocks and arguments as far as they have arrived", () => {
    const snapshot = new Snapshot();
    snapshot.apply({ type: "block.start", index: 0, block: { type: "text" } });
    snapshot.apply({ type: "text.delta", index: 0, delta: "Let me" });
    snapshot.apply({ type: "block.start", index: 1, block: { type: "toolCall", id: "a", name: "read" } });
    expect(snapshot.blocks[1]).toEqual({
      type: "toolCall",
      id: "a",
      name: "read",
      args: undefined,
      argsText: "",
    });
    snapshot.apply({ type: "tool.delta", index: 1, delta: '{"path": "a/b", "lines": [1, 2' });
    expect(snapshot.blocks).toEqual([
      { type: "text", text: "Let me" },
      {
        type: "toolCall",
        id: "a",
        name: "read",
        args: { path: "a/b", lines: [1] },
        argsText: '{"path": "a/b", "lines": [1, 2',
      },
    ]);
  });

  it("salvages complete blocks and open text of a broken turn", () => {
    const snapshot = new Snapshot();
    for (const event of [...toEvents(message)].slice(0, 9)) snapshot.apply(event);
    snapshot.apply({ type: "block.start", index: 3, block: { type: "text" } });
    snapshot.apply({ type: "text.delta", index: 3, delta: "and" });
    snapshot.apply({ type: "block.start", index: 4, block: { type: "toolCall", id: "b", name: "read" } });
    snapshot.apply({ type: "tool.delta", index: 4, delta: '{"path": "half' });
    snapshot.apply({ type: "thinking.delta", index: 5, delta: "unsigned" });
    expect(snapshot.blocks.map((block) => block.type)).toEqual([
      "thinking",
      "text",
      "text",
      "toolCall",
      "thinking",
    ]);
    expect(snapshot.salvage()).toEqual([
      message.content[0],
      message.content[1],
      { type: "text", text: "and" },
    ]);
  });

  it("contains the text of a block that arrived at once", () => {
    const snapshot = new Snapshot();
    snapshot.apply({ type: "block.end", index: 0, block: { type: "text", text: "All at once" } });
    expect(snapshot.text).toBe("All at once");
  });

  it("reuses unchanged blocks", () => {
    const snapshot = new Snapshot();
    for (const event of [...toEvents(message)].slice(0, 7)) snapshot.apply(event);
    const before = snapshot.blocks;
    expect(snapshot.blocks).toBe(before);
    snapshot.apply({ type: "text.delta", index: 1, delta: "!" });
    expect(snapshot.blocks).not.toBe(before);
    expect(snapshot.blocks[0]).toBe(before[0]);
  });

  it("is cleared by each new turn and by a discarded one", () => {
    const snapshot = new Snapshot();
    const error = { code: "overflow", message: "", retryable: false, emitted: true, scope: "model" } as const;
    for (const end of [
      { type: "turn.start", turn: 2 },
      { type: "model.discard", reason: "overflow", error },
      { type: "message", message, origin: "model" },
    ] as const) {
      for (const event of toEvents(message)) snapshot.apply(event);
      snapshot.apply(end);
      expect(snapshot.blocks).toEqual([]);
    }
  });
});

describe("parsePartialJson", () => {
  it.each<[string, JsonValue | undefined]>([
    ["", undefined],
    ["nonsense", undefined],
    ["{", {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":1', {}],
    ['{"a":1,', { a: 1 }],
    ['{"a":"x', { a: "x" }],
    ['{"a":"x\\', { a: "x" }],
    ['{"a":"x\\u00', { a: "x" }],
    ['{"a":"x\\\\', { a: "x\\" }],
    ['{"a":[{"b":tr', { a: [{}] }],
    ['{"a":[{"b":true}', { a: [{ b: true }] }],
    ['["a","b', ["a", "b"]],
    ['{"a":1}', { a: 1 }],
    ['{"a":{"b":"}"', { a: { b: "}" } }],
    ["12", 12],
  ])("%s", (text, value) => {
    expect(parsePartialJson(text)).toEqual(value);
  });

  it.each([
    ["brackets", "[".repeat(100_000), undefined],
    ["objects", '{"a":'.repeat(100_000), undefined],
    ["closed brackets", "[".repeat(65) + "]".repeat(65), undefined],
    ["a string of escapes", `"${"\\".repeat(200_001)}`, "\\".repeat(100_000)],
    ["many values", `[${"[0],".repeat(200_000)}`, Array.from({ length: 200_000 }, () => [0])],
  ])("takes linear time, and accepts at most 64 levels: %s", (_name, text, value) => {
    const got = parsePartialJson(text);
    expect(Array.isArray(got) ? got.length : got).toEqual(Array.isArray(value) ? value.length : value);
    expect(parsePartialJson("[".repeat(64))).toBeDefined();
  });

  it("returns a value for every prefix of a JSON object, and the whole value at the end", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
        fc.boolean(),
        (given, spaced) => {
          const text = JSON.stringify(given, null, spaced ? 1 : 0);
          const cuts = Array.from({ length: text.length - 1 }, (_, i) => text.slice(0, i + 1));
          expect(cuts.filter((cut) => typeof parsePartialJson(cut) !== "object")).toEqual([]);
          expect(parsePartialJson(text)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 200 },
    );
  });
});
