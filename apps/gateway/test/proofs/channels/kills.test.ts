import { expect, it } from "vitest";
import { seeded } from "../crash/random.ts";
import { runKills } from "./kills.ts";
import { startPlatforms } from "./platforms.ts";

/** `SIGNALBOX_SEED` chooses another course; the full count is `npm run prove -- channels`. */
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_129);
const kills = Number(process.env["SIGNALBOX_CHANNEL_KILLS"] ?? 1);

it.each(Object.entries(startPlatforms))(
  `keeps the promises on %s through ${kills === 1 ? "a kill" : `${kills} kills`}`,
  { timeout: 600_000 },
  async (_, startPlatform) => {
    const report = await runKills(await startPlatform(), { kills, random: seeded(seed) });
    console.log(`seed ${seed}: ${JSON.stringify(report)}`);
    expect(report.violations).toEqual([]);
    expect(report.answers).toBeGreaterThan(0);
  },
);
