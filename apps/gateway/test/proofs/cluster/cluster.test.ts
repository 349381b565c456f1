import { expect, it } from "vitest";
import { seeded } from "../crash/random.ts";
import { applyEdit, readSource } from "../mutants/build-copy.ts";
import { planCourse, runCourse } from "./course.ts";
import { startDatabaseServer } from "./database.ts";
import { FAULTS } from "./faults.ts";

/** `SIGNALBOX_SEED` chooses another course; the full one is `npm run prove -- cluster`. */
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_129);

const server = await startDatabaseServer();
if (typeof server === "string") console.log(`skipped: ${server}`);

it.skipIf(typeof server === "string")(
  "keeps the promises on three gateways with one PostgreSQL while they are killed and lose connections",
  { timeout: 300_000 },
  async () => {
    if (typeof server === "string") return;
    try {
      const report = await runCourse(["lost commits", "kill"], {
        random: seeded(seed),
        server,
        sessions: 2,
        pauseMs: 800,
        isBusyMachine: true,
        only: ["plain", "send"],
      });
      console.log(`seed ${seed}: ${report.messages} messages, ${report.replies} replies`);
      expect(report.violations).toEqual([]);
      expect(report.messages).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
  },
);

it("plans every disturbance of a round, in an order that depends on the seed", () => {
  const [one, other] = [planCourse(seeded(1), 1), planCourse(seeded(2), 1)];
  expect(one).not.toEqual(other);
  expect(one.toSorted()).toEqual(other.toSorted());
  expect(planCourse(seeded(1), 20).filter((what) => what === "kill")).toHaveLength(500);
});

it.each(FAULTS)("has a planted fault that applies to the sources: $name", ({ edits }) => {
  for (const edit of edits) expect(applyEdit(readSource(edit.file), edit)).toContain(edit.to);
});
