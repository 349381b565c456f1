import { describe, expect, it } from "vitest";
import { FAILPOINTS } from "./failpoints.ts";
import { type Life, plannedLives, type Report, runLives, SURE } from "./lives.ts";
import { seeded } from "./random.ts";

/** `SIGNALBOX_SEED` and `SIGNALBOX_KILLS` choose another course; the full count is `npm run prove -- crash`. */
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_121);
const kills = Number(process.env["SIGNALBOX_KILLS"] ?? 3);

function told({ violations: _, recoveries, unreached, ...report }: Report): string {
  const times = recoveries.map((ms) => ms.toFixed(0)).join(", ");
  return `seed ${seed}: ${JSON.stringify(report)}; not reached: ${unreached.join(", ") || "none"}; interrupted messages were at the model again after ${times} ms`;
}

describe("a gateway that dies", { timeout: 1_000 * 60 * 10 }, () => {
  it(`keeps its promises through ${kills} kills under load`, async () => {
    const random = seeded(seed);
    const report = await runLives(plannedLives(random, kills), { random, sessions: 4 });
    console.log(told(report));
    expect(report.violations).toEqual([]);
    expect(report.kills).toBe(kills);
    // Of so few lives no more can be asked than that they reach what every life passes.
    expect(report.unreached.filter((point) => SURE.includes(point))).toEqual([]);
  });

  it("keeps its promises when it is paused beyond its lease, stopped under load, or its disk fails", async () => {
    const random = seeded(seed + 1);
    const broken = (count: number): Life => ({ kind: "failing", at: [{ point: "db.sync", count }] });
    const lives: Life[] = [
      broken(random.int(5, 120)),
      { kind: "stopped", ms: random.int(200, 800) },
      { kind: "ended", ms: random.int(100, 900) },
    ];
    const report = await runLives(lives, { random, sessions: 4 });
    console.log(told(report));
    expect(report.violations).toEqual([]);
  });

  it("finishes all work in the same process after one store failure at every point", async () => {
    const random = seeded(seed + 2);
    const points = FAILPOINTS.filter((one) => one.endsWith(".before") && !/^(adopt|route)/.test(one));
    const at = [
      ...points.map((point) => ({ point, count: random.int(1, 5) })),
      ...[1, 2, 3].map((round) => ({ point: "db.write", count: random.int(1, 150) * round }) as const),
      ...[1, 2, 3].map((round) => ({ point: "db.commit", count: random.int(1, 30) * round }) as const),
    ];
    const report = await runLives([], { random, sessions: 4, last: { kind: "failing", at } });
    console.log(told(report));
    expect(report.violations).toEqual([]);
  });
});
