// Lets the database fail at every single write, commit and sync of a conversation, each in a gateway of its own. There
// is no chance in it, so there is no seed. Usage, in apps/gateway, once built:
//   node test/crash/run-sweep.ts
import { runSweep } from "./sweep.ts";

let broken = 0;
for (const point of ["db.write", "db.commit", "db.sync"] as const) {
  const { violations, ...figures } = await runSweep({ point, parallel: 12 });
  console.log(point, figures);
  for (const violation of violations.slice(0, 50)) console.log(`BROKEN: ${violation}`);
  broken += violations.length;
}
console.log(broken === 0 ? "every promise held" : `${broken} promises were broken`);
process.exitCode = broken === 0 ? 0 : 1;
