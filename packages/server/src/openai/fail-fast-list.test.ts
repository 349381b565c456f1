import { expect, it } from "vitest";
import { z } from "zod";
import { list } from "./fail-fast-list.ts";

it("stops at the first invalid element and reports its path", () => {
  let checks = 0;
  const text = z.object({
    text: z.custom<string>((value) => {
      checks += 1;
      return typeof value === "string";
    }, "expected a text"),
  });
  const given = [{ text: "a" }, ...Array.from({ length: 1_000 }, () => ({ text: 1 }))];
  const { success, error } = z.object({ messages: list(text) }).safeParse({ messages: given });
  expect(success).toBe(false);
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([
    [["messages", 1, "text"], "expected a text"],
  ]);
  expect(checks).toBe(2);
});

it("enforces the minimum and maximum length", () => {
  const two = list(z.string(), { min: 1, max: 2 });
  expect(two.parse(["a", "b"])).toEqual(["a", "b"]);
  for (const wrong of [[], ["a", "b", "c"], "ab", { length: 1 }])
    expect(two.safeParse(wrong).success).toBe(false);
});
