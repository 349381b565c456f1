import { expect, it } from "vitest";
import { z } from "zod";
import { list } from "./list.ts";

it("looks at no element behind the first that is wrong, and says where that is", () => {
  let looked = 0;
  const text = z.object({
    text: z.custom<string>((value) => {
      looked += 1;
      return typeof value === "string";
    }, "expected a text"),
  });
  const given = [{ text: "a" }, ...Array.from({ length: 1_000 }, () => ({ text: 1 }))];
  const { success, error } = z.object({ messages: list(text) }).safeParse({ messages: given });
  expect(success).toBe(false);
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([
    [["messages", 1, "text"], "expected a text"],
  ]);
  expect(looked).toBe(2);
});

it("takes an array of the length that it is to have", () => {
  const two = list(z.string(), { min: 1, max: 2 });
  expect(two.parse(["a", "b"])).toEqual(["a", "b"]);
  for (const wrong of [[], ["a", "b", "c"], "ab", { length: 1 }])
    expect(two.safeParse(wrong).success).toBe(false);
});
