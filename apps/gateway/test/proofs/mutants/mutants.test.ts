import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyEdit, type BuildCopy, copyBuild, readSource } from "./build-copy.ts";
import { MUTANTS } from "./mutants.ts";
import { hunt } from "./plant.ts";

/** Every bug there is: `npm run prove -- mutants`. */
describe("a planted bug", () => {
  let copy: BuildCopy | undefined;
  beforeAll(() => {
    copy = copyBuild();
  });
  afterAll(() => copy?.remove());

  it.each(MUTANTS)("applies to the sources: $name", ({ edits }) => {
    for (const edit of edits) expect(applyEdit(readSource(edit.file), edit)).toContain(edit.to);
  });

  it("is rejected if its text occurs nowhere or twice", () => {
    const edit = { file: "a.js", from: "once", to: "never" };
    expect(() => applyEdit("not there", edit)).toThrow("a.js has no place that reads: once");
    expect(() => applyEdit("once and once", edit)).toThrow("more than one place");
  });

  it.each(MUTANTS.filter(({ quick }) => quick === true))(
    "is found: $name",
    { timeout: 600_000 },
    async (mutant) => {
      if (copy === undefined) throw new TypeError("there is no copy");
      const { caught, said } = await hunt(mutant, copy, [1, 2, 3]);
      expect(caught ?? `it survived: ${said.join("; ")}`).toMatch(mutant.caughtBy);
    },
  );
});
