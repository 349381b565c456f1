// `npm run prove -- hostile`, its part about the company sign-in: attackers with an account at the provider, hostile
// pages, forged tokens and headers. Then each check is removed in a copy of the sources. Its attack must succeed.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attackSources, PACKAGE } from "./attack-sources.ts";
import { DEFENCES } from "./defences.ts";

const { tried, through } = attackSources(join(PACKAGE, "src"));
console.log(`company sign-in: ${tried} attacks tried, ${through.length} got through`);
for (const name of through) console.log("  ", name);
let failed = through.length > 0;
for (const { name, attack, file, from, to } of DEFENCES) {
  const copy = join(PACKAGE, `.defenceless-${process.pid}`);
  cpSync(join(PACKAGE, "src"), copy, { recursive: true });
  try {
    const text = readFileSync(join(copy, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
    writeFileSync(join(copy, file), text.replace(from, to));
    const isCaught = attackSources(copy, attack).through.includes(attack);
    console.log(`without "${name}": ${isCaught ? "caught" : "NOT CAUGHT"}`);
    if (!isCaught) failed = true;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
process.exit(failed ? 1 : 0);
