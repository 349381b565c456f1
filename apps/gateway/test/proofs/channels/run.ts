// Kills a built gateway again and again while people write to it on each platform. Usage, in apps/gateway, once built:
//   SIGNALBOX_SEED=7 node test/proofs/channels/run.ts 40 whatsapp
import { seeded } from "../crash/random.ts";
import { runKills } from "./kills.ts";
import { startPlatforms } from "./platforms.ts";

const kills = Number(process.argv[2] ?? 40);
const only = process.argv[3];
const seed = Number(process.env["SIGNALBOX_SEED"] ?? Date.now() % 1_000_000);
console.log(`seed ${seed}, ${kills} kills each (repeat with SIGNALBOX_SEED=${seed})`);
let broken = 0;
for (const [name, startPlatform] of Object.entries(startPlatforms)) {
  if (only !== undefined && only !== name) continue;
  const { violations, ...figures } = await runKills(await startPlatform(), { kills, random: seeded(seed) });
  console.log(name, JSON.stringify(figures));
  for (const violation of violations) console.log(`BROKEN: ${violation}`);
  broken += violations.length;
}
console.log(broken === 0 ? "every promise held" : `${broken} promises were broken`);
process.exitCode = broken === 0 ? 0 : 1;
