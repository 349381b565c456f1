import { expect, it } from "vitest";
import { runSweep } from "./sweep.ts";

/** Every failure there is: `pnpm sweep`. */
it("loses and repeats nothing if its database fails once", { timeout: 600_000 }, async () => {
  const reports = await Promise.all([
    runSweep({ point: "db.write", step: 29, from: 7, parallel: 5 }),
    runSweep({ point: "db.commit", mode: "steer", step: 11, from: 5, parallel: 4 }),
    runSweep({ point: "db.commit", failure: "break", step: 11, from: 8, parallel: 4 }),
    runSweep({ point: "db.sync", mode: "collect", step: 11, from: 5, parallel: 4 }),
  ]);
  console.log(JSON.stringify(reports));
  for (const { violations, runs } of reports) {
    expect(violations).toEqual([]);
    expect(runs).toBeGreaterThan(2);
  }
});
