// `npm run prove -- <name> [arguments]`: runs a stress or fault-injection test in full, and prints the seed that
// repeats it. Exits with 1 if a promise was broken.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const scripts = dirname(fileURLToPath(import.meta.url));
const gateway = join(dirname(scripts), "apps", "gateway");
const proofs = {
  crash: { run: ["test/proofs/crash/run.ts"], takes: "[kills]" },
  cluster: { run: ["test/proofs/cluster/run.ts"], takes: "[rounds] [--seed N]" },
  channels: { run: ["test/proofs/channels/run.ts"], takes: "[kills] [channel]" },
  mutants: { run: ["test/proofs/mutants/run.ts"], takes: "[words]" },
  sweep: { run: ["test/proofs/crash/run-sweep.ts"] },
  storm: { run: ["test/proofs/load/run.ts", "storm"], takes: "[events]" },
  flood: { run: ["test/proofs/load/run.ts", "flood"], takes: "[seconds]" },
  loop: { run: ["test/proofs/load/run.ts", "loop"], takes: "[words]" },
  malformed: { run: ["test/proofs/load/run.ts", "malformed"], takes: "[events] [channel]" },
  hostile: {
    run: [join(dirname(scripts), "packages", "tools", "test", "hostile", "run.ts")],
    also: [
      ["test/proofs/hostile/run.ts"],
      ["test/proofs/hostile/gateway/run.ts"],
      ["test/proofs/hostile/mcp-sign-in/run.ts"],
      ["test/proofs/hostile/documents/run.ts"],
      ["test/proofs/hostile/mcp-server/run.ts"],
      ["test/proofs/hostile/images/run.ts"],
      ["test/proofs/hostile/browser/run.ts"],
      ["test/proofs/hostile/speech/run.ts"],
      ["test/proofs/hostile/company-sign-in/run.ts"],
      ["test/proofs/hostile/subscriptions/run.ts"],
    ],
  },
  import: { run: ["test/proofs/import/run.ts"], takes: "[megabytes] [events]" },
  conformance: { run: [join(dirname(scripts), "packages", "mcp", "test", "run-conformance.ts")] },
  "every-byte": {
    run: [join(dirname(scripts), "packages", "llm-providers", "test", "every-byte.ts"), "--below", "16384"],
    takes: "[--below bytes]",
  },
  properties: { run: [join(scripts, "properties.mjs")], takes: "[rounds]" },
};
/** First arguments that are counts. */
const COUNTS = new Set(["kills", "rounds", "events", "seconds", "megabytes"]);
const [what, ...rest] = process.argv.slice(2);
if (!Object.hasOwn(proofs, what ?? "")) {
  const usage = Object.entries(proofs).map(([name, { takes }]) => (takes ? `${name} ${takes}` : name));
  console.error(`Usage: npm run prove -- ${usage.join(" | ")}`);
  process.exit(64);
}
const { run, also = [], takes = "" } = proofs[what];
// A count that is no number would let a proof do nothing and report that every promise held.
const [first] = takes.match(/\w+/) ?? [];
if (rest[0] !== undefined && COUNTS.has(first) && !/^(?:[1-9]\d*|--.*)$/.test(rest[0])) {
  console.error(`"${rest[0]}" is no number of ${first}. Usage: npm run prove -- ${what} ${takes}`);
  process.exit(64);
}
const ends = [run, ...also].map((each) => {
  return spawnSync(process.execPath, [...each, ...rest], { cwd: gateway, stdio: "inherit" }).status ?? 1;
});
process.exit(Math.max(...ends));
