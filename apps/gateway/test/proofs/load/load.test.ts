import { expect, it } from "vitest";
import { seeded } from "../crash/random.ts";
import { runFlood } from "./flood.ts";
import { runMalformed } from "./malformed.ts";
import { malformedDiscord } from "./malformed-discord.ts";
import { malformedFeishu } from "./malformed-feishu.ts";
import { malformedSlack } from "./malformed-slack.ts";
import { malformedTelegram } from "./malformed-telegram.ts";
import { malformedWeb } from "./malformed-web.ts";
import { runStorm } from "./storm.ts";

/** The full counts are `npm run prove -- storm`, `flood` and `malformed`. */
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_121);

it("starts one run for each event, however often and in whatever order it is delivered", {
  timeout: 600_000,
}, async () => {
  const report = await runStorm({ random: seeded(seed), events: 100, times: 5, sessions: 20 });
  console.log(`seed ${seed}: ${JSON.stringify(report)}`);
  expect(report.violations).toEqual([]);
  expect(report.accepted).toBe(100);
  expect(report.duplicates).toBe(400);
});

it("answers every acknowledged message in a flood, and rejects the rest before accepting it", {
  timeout: 600_000,
}, async () => {
  const report = await runFlood({ random: seeded(seed), seconds: 2, inboxLimit: 40 });
  console.log(JSON.stringify(report));
  expect(report.violations).toEqual([]);
  expect(report.refused).toBeGreaterThan(report.acknowledged);
  expect(report.answered).toBe(report.acknowledged);
});

it.each([
  ["Discord", malformedDiscord],
  ["Feishu", malformedFeishu],
  ["Slack", malformedSlack],
  ["Telegram", malformedTelegram],
])(
  "answers malformed events of %s in the 400s or ignores them, and goes on",
  { timeout: 600_000 },
  async (_, platform) => {
    const report = await runMalformed({ platform, random: seeded(seed), events: 200 });
    console.log(`seed ${seed}: ${JSON.stringify(report)}`);
    expect(report.violations).toEqual([]);
    expect(report.ignored).toBeGreaterThan(20);
  },
);

it("rejects malformed frames and requests with 4xx, and keeps running", {
  timeout: 600_000,
}, async () => {
  const report = await runMalformed({ platform: malformedWeb, random: seeded(seed), events: 200 });
  console.log(`seed ${seed}: ${JSON.stringify(report)}`);
  expect(report.violations).toEqual([]);
  const refused = Object.keys(report.statuses).filter((status) => status.startsWith("4"));
  expect(refused).toEqual(expect.arrayContaining(["400", "401", "404"]));
});
