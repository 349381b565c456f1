import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toSkillId } from "./ids.ts";

describe("toSkillId", () => {
  it.each([
    ["create-python-script", "create-python-script"],
    ["Web Search", "web-search"],
    ["../../etc/passwd", "etc-passwd"],
    ["创建脚本", "创建脚本"],
    ["ｆｕｌｌ", "full"],
    [".hidden", "hidden"],
  ])("makes %j into %j", (name, id) => {
    expect(toSkillId(name)).toBe(id);
  });

  it.each(["", "..", "---", "🙂", "/"])("returns undefined for %j", (name) => {
    expect(toSkillId(name)).toBeUndefined();
  });

  it("returns names that are safe as folders, and is idempotent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), (name) => {
        const id = toSkillId(name);
        if (id === undefined) return;
        expect(id).toMatch(/^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}._-]*$/u);
        expect(id.endsWith(".")).toBe(false);
        expect([...id].length).toBeLessThanOrEqual(64);
        expect(toSkillId(id)).toBe(id);
      }),
      { numRuns: 2_000 },
    );
  });
});
