// `npm run prove -- properties [rounds]`: runs every property test with other random cases in each round. Stops at the
// first round that fails and prints its seed, which reproduces the failure: SIGNALBOX_SEED=7 npm test -- tests
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./workspace.mjs";

const rounds = Number(process.argv[2] ?? 20);
const first = Number(process.env.SIGNALBOX_SEED ?? Date.now() % 1_000_000);
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(first)) {
  console.error("The rounds and SIGNALBOX_SEED are whole numbers, the rounds at least 1.");
  process.exit(64);
}
const files = globSync("{packages,apps}/*/{src,test}/**/*.test.ts", { cwd: root }).filter((file) =>
  /import .*fast-check|arbitraries/.test(readFileSync(join(root, file), "utf8")),
);
const vitest = join(root, "node_modules", ".bin", "vitest");
for (let seed = first; seed < first + rounds; seed++) {
  const env = { ...process.env, SIGNALBOX_SEED: String(seed) };
  const { code, output } = await run(vitest, ["run", "--reporter=dot", ...files], { env });
  console.log(`seed ${seed}: ${code === 0 ? "every property held" : "a property does not hold"}`);
  if (code !== 0) {
    console.log(output);
    process.exit(1);
  }
}
console.log(`${files.length} files, ${rounds} rounds (repeat with SIGNALBOX_SEED=${first})`);
