import { expect, it } from "vitest";
import { seeded } from "../crash/random.ts";
import { applyEdit, readSource } from "../mutants/build-copy.ts";
import { planCourse } from "./course.ts";
import { FAULTS } from "./faults.ts";

it("plans every disturbance of a round, in an order that depends on the seed", () => {
  const [one, other] = [planCourse(seeded(1), 1), planCourse(seeded(2), 1)];
  expect(one).not.toEqual(other);
  expect(one.toSorted()).toEqual(other.toSorted());
  expect(planCourse(seeded(1), 20).filter((what) => what === "kill")).toHaveLength(500);
});

it.each(FAULTS)("has a planted fault that applies to the sources: $name", ({ edits }) => {
  for (const edit of edits) expect(applyEdit(readSource(edit.file), edit)).toContain(edit.to);
});
