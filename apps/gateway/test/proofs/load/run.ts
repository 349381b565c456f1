// The full counts. Usage, in apps/gateway, once built:
//   SIGNALBOX_SEED=7 node test/proofs/load/run.ts storm [events, default 100,000]
//   SIGNALBOX_SEED=7 node test/proofs/load/run.ts flood [seconds, default 60]
//   node test/proofs/load/run.ts loop [words of what to try, default everything]
//   SIGNALBOX_SEED=7 node test/proofs/load/run.ts malformed [events, default 100,000] [channel, default feishu]
import { seeded } from "../crash/random.ts";
import { EXCESSES } from "./excesses.ts";
import { runFlood } from "./flood.ts";
import { ROUNDS, runLoop } from "./loop.ts";
import { runMalformed } from "./malformed.ts";
import { malformedDiscord } from "./malformed-discord.ts";
import { malformedFeishu } from "./malformed-feishu.ts";
import { malformedSlack } from "./malformed-slack.ts";
import { malformedTelegram } from "./malformed-telegram.ts";
import { malformedWeb } from "./malformed-web.ts";
import { runStorm } from "./storm.ts";

const [what, count, channel = "feishu"] = process.argv.slice(2);
const platforms = new Map([
  ["discord", malformedDiscord],
  ["feishu", malformedFeishu],
  ["slack", malformedSlack],
  ["telegram", malformedTelegram],
  ["web", malformedWeb],
]);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? Date.now() % 1_000_000);

if (what === "storm") {
  const events = Number(count ?? 100_000);
  console.log(`seed ${seed}: ${events} events five times each, shuffled`);
  const started = performance.now();
  const report = await runStorm({
    random: seeded(seed),
    events,
    times: 5,
    sessions: Math.ceil(events / 50),
    progress: (deliveries) =>
      console.log(`${deliveries} deliveries after ${((performance.now() - started) / 1000).toFixed(0)} s`),
  });
  tell(report);
} else if (what === "flood") {
  const seconds = Number(count ?? 60);
  console.log(`seed ${seed}: a hundred times the steady rate for ${seconds} s`);
  tell(await runFlood({ random: seeded(seed), seconds, inboxLimit: 200 }));
} else if (what === "malformed") {
  const events = Number(count ?? 100_000);
  const platform = platforms.get(channel);
  if (platform === undefined)
    throw new Error(`There are malformed events of ${[...platforms.keys()].join(", ")}.`);
  console.log(`seed ${seed}: ${events} malformed events of ${channel}`);
  const progress = (sent: number): void => console.log(`${sent} events`);
  tell(await runMalformed({ platform, random: seeded(seed), events, progress }));
} else if (what === "loop") {
  const words = process.argv.slice(3);
  const chosen = EXCESSES.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  console.log(`the longest that each held the event loop, in each of ${ROUNDS} rounds:`);
  tell(await runLoop(chosen));
} else {
  console.error("Say storm, flood, loop or malformed.");
  process.exitCode = 64;
}

function tell({ violations, ...figures }: { readonly violations: readonly string[] }): void {
  console.log(figures);
  for (const violation of violations.slice(0, 50)) console.log(`BROKEN: ${violation}`);
  console.log(violations.length === 0 ? "every promise held" : `${violations.length} promises were broken`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
