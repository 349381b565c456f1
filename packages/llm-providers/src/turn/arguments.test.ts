import { expect, test } from "vitest";
import { parseArguments } from "./arguments.ts";

const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

test("arguments that could not be sent on are refused, for the model to mend", () => {
  expect(parseArguments(nested(64))).toMatchObject({ args: {} });
  expect(parseArguments(nested(65))).toEqual({
    args: undefined,
    argsError: "The arguments nest deeper than 64 levels.",
  });
  expect(parseArguments(nested(100_000)).args).toBeUndefined();
});

test("brackets in texts nest nothing", () => {
  const args = { a: `"\\${"[{".repeat(2_000)}`, b: ["}", "\\"] };
  expect(parseArguments(JSON.stringify(args))).toEqual({ args });
});

test("many arguments beside each other nest nothing", () => {
  const args = { all: Array.from({ length: 5_000 }, (_, i) => ({ i })) };
  expect(parseArguments(JSON.stringify(args))).toEqual({ args });
});
