// Lets the database fail at every single write, commit and sync of a conversation, and break for once at each commit,
// with each queue mode, every time in a gateway of its own. There is no chance in it, so there is no seed.
// Usage, in apps/gateway, once built: node test/proofs/crash/run-sweep.ts
import { QUEUE_MODES } from "@signalbox/lanes";
import { runSweep } from "./sweep.ts";

let broken = 0;
const faults = [
  ["db.write", "throw"],
  ["db.commit", "throw"],
  ["db.commit", "break"],
  ["db.sync", "throw"],
] as const;
for (const mode of QUEUE_MODES)
  for (const [point, failure] of faults) {
    const { violations, ...figures } = await runSweep({ point, failure, mode, parallel: 12 });
    console.log(mode, point, failure, figures);
    for (const violation of violations.slice(0, 50)) console.log(`BROKEN: ${violation}`);
    broken += violations.length;
  }
console.log(broken === 0 ? "every promise held" : `${broken} promises were broken`);
process.exitCode = broken === 0 ? 0 : 1;
