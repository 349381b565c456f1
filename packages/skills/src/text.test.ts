import { describe, expect, it } from "vitest";
import { oneLine } from "./text.ts";

describe("oneLine", () => {
  it("does not split a surrogate pair", () => {
    expect(oneLine("a🙂🙂", 4)).toBe("a🙂…");
    expect(oneLine("a🙂🙂", 3)).toBe("a…");
    expect(oneLine(" a\n\tb\u0000c ", 10)).toBe("a b c");
  });
});
