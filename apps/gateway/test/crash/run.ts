// Kills a built gateway again and again under load and checks what it promised. Usage, in apps/gateway, once built:
//   SIGNALBOX_KILLS=500 SIGNALBOX_SEED=7 node test/crash/run.ts
import { plannedLives, runLives } from "./lives.ts";
import { seeded } from "./random.ts";

const kills = Number(process.env["SIGNALBOX_KILLS"] ?? 500);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? Date.now() % 1_000_000);
/** Sessions grow with every kill, and with them what each question to the model holds. */
const KILLS_A_HOME = 20;

console.log(`seed ${seed}, ${kills} kills (repeat with SIGNALBOX_SEED=${seed} SIGNALBOX_KILLS=${kills})`);
const random = seeded(seed);
const recoveries: number[] = [];
const totals = { kills: 0, messages: 0, deliveries: 0, replies: 0, poisoned: 0, unknown: 0, unreached: 0 };
let broken = 0;
while (totals.kills < kills) {
  const lives = plannedLives(random, Math.min(KILLS_A_HOME, kills - totals.kills));
  const report = await runLives(lives, {
    random,
    sessions: random.int(3, 8),
    ...(process.env["SIGNALBOX_VERBOSE"]
      ? { progress: (life, exit) => console.log(JSON.stringify({ life, exit })) }
      : {}),
  });
  for (const key of ["kills", "messages", "deliveries", "replies", "poisoned", "unknown"] as const)
    totals[key] += report[key];
  totals.unreached += report.unreached.length;
  recoveries.push(...report.recoveries);
  for (const violation of report.violations) console.log(`BROKEN: ${violation}`);
  broken += report.violations.length;
  console.log(
    `${totals.kills} kills, ${totals.messages} messages, ${totals.deliveries} deliveries, ${totals.replies} at the platform, ${totals.unknown} calls of unknown outcome, ${totals.poisoned} set aside, ${totals.unreached} failpoints not reached, ${broken} broken`,
  );
}
const sorted = recoveries.toSorted((a, b) => a - b);
const at = (share: number): string =>
  (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(0);
console.log(
  `start to the first interrupted message at the model: median ${at(0.5)} ms, 90 % ${at(0.9)} ms, longest ${at(1)} ms over ${sorted.length} restarts`,
);
console.log(broken === 0 ? "every promise held" : `${broken} promises were broken`);
process.exitCode = broken === 0 ? 0 : 1;
