// `npm run prove -- <what> [arguments]`: shows promises at their full count and prints the seed that repeats it. It ends
// with 1 where a promise was broken.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const scripts = dirname(fileURLToPath(import.meta.url));
const gateway = join(dirname(scripts), "apps", "gateway");
const proofs = {
  crash: ["test/crash/run.ts"],
  mutants: ["test/mutants/run.ts"],
  sweep: ["test/crash/run-sweep.ts"],
  storm: ["test/load/run.ts", "storm"],
  flood: ["test/load/run.ts", "flood"],
  malformed: ["test/load/run.ts", "malformed"],
  hostile: [join(dirname(scripts), "packages", "tools", "test", "hostile", "run.ts")],
  properties: [join(scripts, "properties.mjs")],
};
const [what, ...rest] = process.argv.slice(2);
if (!Object.hasOwn(proofs, what ?? "")) {
  console.error(
    `Usage: npm run prove -- crash [kills] | mutants [words] | sweep | storm [events] | flood [seconds] | malformed [events] [channel] | properties [rounds]`,
  );
  process.exit(64);
}
const { status } = spawnSync(process.execPath, [...proofs[what], ...rest], {
  cwd: gateway,
  stdio: "inherit",
});
process.exit(status ?? 1);
