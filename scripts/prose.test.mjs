import { describe, expect, it } from "vitest";
import { checkComment, findComments, findExcess, HABITS, measure } from "./prose.mjs";

const namesOf = (text) => checkComment(text).flatMap(({ habits }) => habits.map(({ name }) => name));

describe("checkComment", () => {
  it.each([
    ["noun clause", "What is sent to the platform."],
    ["noun clause", "Returns the row. Where it is kept, nothing else is written."],
    ["where for if", "The next row, undefined where there is no other."],
    ["is none", "Falls back to the default if there is none."],
    ["verb of speech", "The model is told about the error."],
    ["gives", "Gives the next due row."],
    ["archaic", "Starts the timer anew."],
    ["somebody", "Nobody reads the stream."],
  ])("reports %s", (habit, text) => {
    expect(namesOf(text)).toContain(habit);
  });

  it.each([
    "Returns the next due row, or undefined if there is no such row.",
    "What happens if the disk is full?",
    "Retries the request at most three times. Waits for `Retry-After` if the vendor sends it.",
    "Sends a keep-alive comment every 15 s, because proxies close silent connections.",
  ])("accepts %s", (text) => {
    expect(checkComment(text)).toEqual([]);
  });

  it("has advice for every habit", () => {
    for (const { advice } of HABITS) expect(advice).not.toBe("");
  });
});

describe("findComments", () => {
  it("returns comments with their lines, without tags and examples", () => {
    const source = [
      "// First line",
      "// and second line.",
      "const a = 1;",
      "/** Summary. */",
      "/**",
      " * Sends a frame.",
      " *",
      " * @param text what to send",
      " * @example",
      " * ```ts",
      " * // What the example shows",
      " * ```",
      " */",
    ].join("\n");
    expect(findComments(source)).toEqual([
      { line: 1, text: "First line and second line." },
      { line: 4, text: "Summary." },
      { line: 5, text: expect.stringMatching(/^Sends a frame\..*what to send/) },
    ]);
  });

  it("ignores directives", () => {
    expect(findComments("// biome-ignore lint/style: reason\n\n// @ts-expect-error reason")).toEqual([]);
  });
});

describe("limits", () => {
  const comment = (file, isFlagged) => ({ file, flagged: isFlagged ? [{}] : [] });
  const comments = [
    ...Array.from({ length: 96 }, () => comment("packages/a/src/a.ts", false)),
    ...Array.from({ length: 4 }, () => comment("packages/a/src/b.ts", true)),
    comment("scripts/a.mjs", true),
    ...Array.from({ length: 99 }, () => comment("apps/b/src/a.ts", false)),
  ];

  it("counts comments by package", () => {
    expect(measure(comments)).toEqual({
      "packages/a": { comments: 100, flagged: 4, percent: 4 },
      scripts: { comments: 1, flagged: 1, percent: 100 },
      "apps/b": { comments: 99, flagged: 0, percent: 0 },
      overall: { comments: 200, flagged: 5, percent: 2.5 },
    });
  });

  it("fails above 3 %, except for a single comment", () => {
    expect(findExcess(measure(comments))).toEqual(["packages/a"]);
  });
});
