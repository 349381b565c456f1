import { expect, it } from "vitest";
import { seeded } from "../crash/random.ts";
import { applyEdit, readSource } from "../mutants/build-copy.ts";
import { planCourse, runCourse } from "./course.ts";
import { startDatabaseServer } from "./database.ts";
import type { Disturbance } from "./disturb.ts";
import { FAULTS } from "./faults.ts";

/** `SIGNALBOX_SEED` chooses another course. All disturbances are in `npm run prove -- cluster`. */
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_129);
const COURSE: readonly Disturbance[] = ["kill", "stop", "black hole", "restart"];

it("keeps the promises of two gateways on one PostgreSQL through a kill, a suspended process, a broken network and a restart of the database", {
  timeout: 600_000,
}, async ({ skip }) => {
  const server = await startDatabaseServer();
  if (typeof server === "string") return skip(server);
  try {
    const { violations, takeovers, dump, ...figures } = await runCourse(COURSE, {
      random: seeded(seed),
      server,
      nodes: 2,
      sessions: 2,
      pauseMs: 1_500,
      mayLoseLeases: true,
      dumps: true,
    });
    const times = [...takeovers].map(([what, ms]) => `${what} ${ms.map(Math.round).join(", ")} ms`);
    console.log(`seed ${seed}: ${JSON.stringify(figures)}; taken over after: ${times.join("; ")}`);
    expect(violations, `the state of the world is in ${dump}`).toEqual([]);
    expect(figures.messages).toBeGreaterThan(0);
  } finally {
    await server.stop();
  }
});

it("plans every disturbance of a round, in an order that depends on the seed", () => {
  const [one, other] = [planCourse(seeded(1), 1), planCourse(seeded(2), 1)];
  expect(one).not.toEqual(other);
  expect(one.toSorted()).toEqual(other.toSorted());
  expect(planCourse(seeded(1), 20).filter((what) => what === "kill")).toHaveLength(500);
});

it.each(FAULTS)("has a planted fault that applies to the sources: $name", ({ edits }) => {
  for (const edit of edits) expect(applyEdit(readSource(edit.file), edit)).toContain(edit.to);
});
