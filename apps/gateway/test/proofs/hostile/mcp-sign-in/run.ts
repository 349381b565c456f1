// `npm run prove -- hostile`, its part about the sign-in at MCP servers: hostile servers try to get a code, a token or
// a request of the gateway. Then each check is removed in a copy of the sources, and the attack must succeed.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Mcp from "@signalbox/mcp";
import { SIGN_IN_ATTACKS } from "./attacks.ts";
import { SIGN_IN_DEFENCES, type SignInDefence } from "./defences.ts";

const PACKAGE = join(import.meta.dirname, "..", "..", "..", "..", "..", "..", "packages", "mcp");

const load = (sources: string): Promise<typeof Mcp> => import(pathToFileURL(join(sources, "index.ts")).href);

/** Loads the package without one check. */
async function loadWithout({ file, from, to }: SignInDefence): Promise<typeof Mcp> {
  const copy = join(
    PACKAGE,
    `.defenceless-${process.pid}-${SIGN_IN_DEFENCES.findIndex((one) => one.from === from)}`,
  );
  cpSync(join(PACKAGE, "src"), copy, { recursive: true });
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  const path = join(copy, "sign-in", file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
  writeFileSync(path, text.replace(from, to));
  return load(copy);
}

let failed = false;
const mcp = await load(join(PACKAGE, "src"));
for (const { name, attempt } of SIGN_IN_ATTACKS) {
  const damage = await attempt(mcp);
  if (damage === undefined) continue;
  console.log(`  ${name}: ${damage}`);
  failed = true;
}
console.log(
  `sign-in at MCP servers: ${SIGN_IN_ATTACKS.length} attacks tried${failed ? "" : ", 0 got through"}`,
);

for (const defence of SIGN_IN_DEFENCES) {
  const attack = SIGN_IN_ATTACKS.find(({ name }) => name === defence.attack);
  const damage = await attack?.attempt(await loadWithout(defence));
  console.log(
    `without the check against "${defence.attack}": ${damage === undefined ? "NOT CAUGHT" : "caught"}`,
  );
  if (damage === undefined) failed = true;
}
process.exit(failed ? 1 : 0);
