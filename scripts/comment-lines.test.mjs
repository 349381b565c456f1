import { describe, expect, it } from "vitest";
import { longComments } from "./comment-lines.mjs";

const words = "word ".repeat(30);

describe("lines of comment", () => {
  it.each([`// ${words}`, `/** ${words}*/`, `/**\n   * ${words}\n   */`])("refuses %s", (source) => {
    expect(longComments(source)).toHaveLength(1);
  });

  it("accepts those of 120 columns, and leaves lines of code to the formatter", () => {
    expect(longComments(`// ${"x".repeat(117)}\nconst text = "${words}";\n`)).toEqual([]);
  });
});
