// Plants one bug after the other in a copy of what was built and shows that each is found. Usage, in apps/gateway, once
// built:
//   SIGNALBOX_SEED=7 node test/proofs/mutants/run.ts [words of a mutant's name]
import { copyBuild } from "./build-copy.ts";
import { MUTANTS } from "./mutants.ts";
import { hunt, violationsIn } from "./plant.ts";

const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_121);
const TRIES = 3;
const words = process.argv.slice(2).join(" ");
const chosen = MUTANTS.filter(({ name }) => name.includes(words));
if (chosen.length === 0) {
  console.error(`No mutant is called ${words}. There are: ${MUTANTS.map(({ name }) => name).join("; ")}.`);
  process.exit(64);
}
console.log(`seed ${seed}: ${chosen.length} mutants, ${TRIES} tries each at most`);
const copy = copyBuild();
let failed = 0;
try {
  // What is said of the gateway as it is says nothing of a bug.
  const scenarios = new Map(chosen.map(({ scenario }) => [JSON.stringify(scenario), scenario]));
  for (const [name, scenario] of scenarios) {
    const violations = await violationsIn(scenario, copy.main, { seed });
    if (violations.length === 0) continue;
    failed++;
    console.log(`BROKEN without a bug, ${name}: ${violations.slice(0, 5).join("; ")}`);
  }
  console.log(
    `${scenarios.size} scenarios without a bug: ${failed === 0 ? "every promise held" : `${failed} broken`}`,
  );
  for (const mutant of chosen) {
    const started = performance.now();
    const seeds = Array.from({ length: TRIES }, (_, index) => seed + index);
    const { caught, said } = await hunt(mutant, copy, seeds);
    const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
    if (caught === undefined) failed++;
    console.log(
      caught === undefined
        ? `SURVIVED: a gateway that ${mutant.name} (${took}); said was: ${said.slice(0, 5).join("; ") || "nothing"}`
        : `a gateway that ${mutant.name} → ${caught.slice(0, 160)} (${took})`,
    );
  }
} finally {
  copy.remove();
}
console.log(failed === 0 ? "every bug was found" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
