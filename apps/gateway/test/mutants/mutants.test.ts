import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuildCopy, builtText, copyBuild, edited } from "./build-copy.ts";
import { MUTANTS } from "./mutants.ts";
import { hunt } from "./plant.ts";

/** Every bug there is: `npm run prove -- mutants`. */
describe("a planted bug", () => {
  let copy: BuildCopy | undefined;
  beforeAll(() => {
    copy = copyBuild();
  });
  afterAll(() => copy?.remove());

  it.each(MUTANTS)("fits what is built: $name", ({ edits }) => {
    for (const edit of edits) expect(edited(builtText(edit.file), edit)).toContain(edit.to);
  });

  it("that does not fit is told, and so is one that fits twice", () => {
    const edit = { file: "a.js", from: "once", to: "never" };
    expect(() => edited("not there", edit)).toThrow("a.js has no place that reads: once");
    expect(() => edited("once and once", edit)).toThrow("more than one place");
  });

  it.each(MUTANTS.filter(({ quick }) => quick === true))(
    "is found: $name",
    { timeout: 600_000 },
    async (mutant) => {
      if (copy === undefined) throw new TypeError("there is no copy");
      const { caught, said } = await hunt(mutant, copy, [1, 2]);
      expect(caught ?? `it survived: ${said.join("; ")}`).toMatch(mutant.caughtBy);
    },
  );
});
