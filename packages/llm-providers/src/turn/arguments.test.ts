import { describe, expect, test } from "vitest";
import { parseArguments } from "./arguments.ts";

const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

test("rejects arguments that nest deeper than 64 levels", () => {
  expect(parseArguments(nested(64))).toMatchObject({ args: {} });
  expect(parseArguments(nested(65))).toEqual({
    args: undefined,
    argsError: "The arguments nest deeper than 64 levels.",
  });
  expect(parseArguments(nested(100_000)).args).toBeUndefined();
});

test("brackets in strings do not count as nesting", () => {
  const args = { a: `"\\${"[{".repeat(2_000)}`, b: ["}", "\\"] };
  expect(parseArguments(JSON.stringify(args))).toEqual({ args });
});

test("accepts a long list of objects", () => {
  const args = { all: Array.from({ length: 5_000 }, (_, i) => ({ i })) };
  expect(parseArguments(JSON.stringify(args))).toEqual({ args });
});

describe("arguments that can be read in only one way", () => {
  test.each(["", "  ", "{}", "null", '"null"', '""', '"{}"'])("%j means no arguments", (text) => {
    expect(parseArguments(text)).toEqual({ args: {} });
  });

  test.each([
    '"{\\"path\\":\\"a\\"}"',
    '```json\n{"path":"a"}\n```',
    '```\n{"path":"a"}```',
    ' {"path":"a"} ',
  ])("%j means the object in it", (text) => {
    expect(parseArguments(text)).toEqual({ args: { path: "a" } });
  });

  test.each([
    ['{"text":"one\ntwo\tthree"}', { text: "one\ntwo\tthree" }],
    ['{\n  "text": "a \\"quoted\nline\\""\n}', { text: 'a "quoted\nline"' }],
    ['{"path":"a"}</tool_call>', { path: "a" }],
    ['{"path":"<b>"}\n<|im_end|> <|eot_id|>', { path: "<b>" }],
    ['{}{"path":"a"}', { path: "a" }],
    ['"{\\"text\\":\\"a\nb\\"}"', { text: "a\nb" }],
  ])("%j is repaired", (text, args) => {
    expect(parseArguments(text)).toEqual({ args });
  });

  test.each(['"path"', "7", "[1]", "true", '"[1]"', '{"path":"a"}{"path":"b"}'])(
    "%j is malformed",
    (text) => {
      expect(parseArguments(text).args).toBeUndefined();
    },
  );
});

test("parses arguments after an unclosed code fence quickly", () => {
  const { user } = process.cpuUsage();
  expect(parseArguments(`\`\`\`${"\n".repeat(150_000)}x`).args).toBeUndefined();
  // In microseconds. A search from each line break takes some seconds.
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});
