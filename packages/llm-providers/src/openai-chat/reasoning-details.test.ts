import { expect, test } from "vitest";
import { ReasoningDetails } from "./reasoning-details.ts";

test("pieces of one entry are joined, encrypted entries stay apart", () => {
  const details = new ReasoningDetails();
  const texts = [
    { type: "reasoning.text", index: 0, text: "a", signature: null },
    { type: "reasoning.text", index: 0, text: "b" },
    { type: "reasoning.text", index: 0, signature: "sig" },
    { type: "reasoning.text", index: 1, text: "c" },
    { type: "reasoning.encrypted", index: 1, data: "x" },
    { type: "reasoning.encrypted", index: 1, data: "y" },
  ].map((piece) => details.add(piece));
  expect(texts).toEqual(["a", "b", "", "c", "", ""]);
  expect(details.take()).toEqual([
    { type: "reasoning.text", index: 0, text: "ab", signature: "sig" },
    { type: "reasoning.text", index: 1, text: "c" },
    { type: "reasoning.encrypted", index: 1, data: "x" },
    { type: "reasoning.encrypted", index: 1, data: "y" },
  ]);
  expect(details.isEmpty).toBe(true);
});

test("a piece that repeats all the text so far adds only what is new", () => {
  const details = new ReasoningDetails();
  const texts = ["Let", "Let me", "Let me see."].map((text) =>
    details.add({ type: "reasoning.text", index: 0, text }),
  );
  expect(texts).toEqual(["Let", " me", " see."]);
  expect(details.take()).toEqual([{ type: "reasoning.text", index: 0, text: "Let me see." }]);
});
