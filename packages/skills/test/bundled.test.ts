import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createSkills } from "../src/index.ts";

const dir = fileURLToPath(new URL("../../../skills", import.meta.url));

describe("the bundled skills", () => {
  const skills = createSkills({ sources: [{ kind: "bundled", dir }], env: {}, which: () => true });

  it("load without problems, under the names of their folders", async () => {
    const check = await skills.check();
    expect(check.problems).toEqual([]);
    expect(check.skills.map(({ skill }) => skill.id)).toEqual(readdirSync(dir).sort());
    for (const { skill, eligible } of check.skills) {
      expect(eligible).toBe(true);
      expect(skill.name).toBe(skill.id);
    }
  });

  it("say in English and Chinese when to use them, and leave room for other skills", async () => {
    for (const { description } of (await skills.forAgent()).skills) {
      expect(description).toMatch(/Use when/);
      expect(description).toMatch(/\p{Script=Han}/u);
      expect(description.length).toBeLessThan(500);
    }
  });
});
