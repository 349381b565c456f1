// `npm run prove -- <what> [arguments]`: shows promises at their full count and prints the seed that repeats it.
// It ends with 1 where a promise was broken.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const scripts = dirname(fileURLToPath(import.meta.url));
const gateway = join(dirname(scripts), "apps", "gateway");
const proofs = {
  crash: { run: ["test/crash/run.ts"], takes: "[kills]" },
  mutants: { run: ["test/mutants/run.ts"], takes: "[words]" },
  sweep: { run: ["test/crash/run-sweep.ts"] },
  storm: { run: ["test/load/run.ts", "storm"], takes: "[events]" },
  flood: { run: ["test/load/run.ts", "flood"], takes: "[seconds]" },
  loop: { run: ["test/load/run.ts", "loop"], takes: "[words]" },
  malformed: { run: ["test/load/run.ts", "malformed"], takes: "[events] [channel]" },
  hostile: {
    run: [join(dirname(scripts), "packages", "tools", "test", "hostile", "run.ts")],
    also: [["test/hostile/run.ts"], ["test/hostile/gateway/run.ts"]],
  },
  properties: { run: [join(scripts, "properties.mjs")], takes: "[rounds]" },
};
const [what, ...rest] = process.argv.slice(2);
if (!Object.hasOwn(proofs, what ?? "")) {
  const usage = Object.entries(proofs).map(([name, { takes }]) => (takes ? `${name} ${takes}` : name));
  console.error(`Usage: npm run prove -- ${usage.join(" | ")}`);
  process.exit(64);
}
const { run, also = [] } = proofs[what];
const ends = [run, ...also].map((each) => {
  return spawnSync(process.execPath, [...each, ...rest], { cwd: gateway, stdio: "inherit" }).status ?? 1;
});
process.exit(Math.max(...ends));
