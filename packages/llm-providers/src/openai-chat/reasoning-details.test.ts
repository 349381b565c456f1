import { expect, test } from "vitest";
import { mergeDetails } from "./reasoning-details.ts";

test("pieces of one entry become one; encrypted entries stay apart", () => {
  expect(
    mergeDetails([
      { type: "reasoning.text", index: 0, text: "a", signature: null },
      { type: "reasoning.text", index: 0, text: "b" },
      { type: "reasoning.text", index: 0, signature: "sig" },
      { type: "reasoning.text", index: 1, text: "c" },
      { type: "reasoning.encrypted", index: 1, data: "x" },
      { type: "reasoning.encrypted", index: 1, data: "y" },
    ]),
  ).toEqual([
    { type: "reasoning.text", index: 0, text: "ab", signature: "sig" },
    { type: "reasoning.text", index: 1, text: "c" },
    { type: "reasoning.encrypted", index: 1, data: "x" },
    { type: "reasoning.encrypted", index: 1, data: "y" },
  ]);
});
