// `npm run prove -- hostile`, its part about agents' browsers: hostile pages try to reach private addresses, to read
// files, to open windows, to stay, to fill the disk and to make the agent click. Then each check is removed in a copy
// of the sources, and its attacks must succeed.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Tools from "@signalbox/tools";
import type * as Pool from "../../../../src/agent/browser/browsers.ts";
import { whyNoAgentBrowser } from "../../../support/browser-site.ts";
import { attack, BROWSER_ATTACKS, type Parts } from "./attacks.ts";
import { BROWSER_DEFENCES, type BrowserDefence } from "./defences.ts";

const GATEWAY = join(import.meta.dirname, "..", "..", "..", "..");
const TOOLS = join(GATEWAY, "..", "..", "packages", "tools");
const AGENT = join(GATEWAY, "src", "agent");

/** Loads the parts from copies of the sources with some changes. */
async function loadParts(name: string, changes: BrowserDefence["changes"]): Promise<Parts> {
  const copies = {
    tools: join(TOOLS, `.defenceless-${process.pid}-${name}`),
    browser: join(AGENT, `.defenceless-${process.pid}-${name}`),
  };
  process.once("exit", () => {
    for (const copy of Object.values(copies)) rmSync(copy, { recursive: true, force: true });
  });
  cpSync(join(TOOLS, "src"), copies.tools, { recursive: true });
  cpSync(join(AGENT, "browser"), copies.browser, { recursive: true });
  const index = pathToFileURL(join(copies.tools, "index.ts")).href;
  for (const file of readdirSync(copies.browser))
    replace(join(copies.browser, file), '"@signalbox/tools"', JSON.stringify(index), false);
  for (const { of, file, from, to } of changes) replace(join(copies[of], file), from, to);
  const tools: typeof Tools = await import(index);
  const pool: typeof Pool = await import(pathToFileURL(join(copies.browser, "browsers.ts")).href);
  return { tools, pool };
}

function replace(path: string, from: string, to: string, isNeeded = true): void {
  const text = readFileSync(path, "utf8");
  if (isNeeded && !text.includes(from)) throw new Error(`${path} does not have: ${from}`);
  writeFileSync(path, text.replaceAll(from, to));
}

const missing = await whyNoAgentBrowser();
if (missing !== undefined) {
  console.log(`agents' browsers: skipped, since ${missing}`);
  process.exit(0);
}
let failed = false;
const names = Object.keys(BROWSER_ATTACKS);
const damages = await attack(await loadParts("none", []), names);
for (const [name, damage] of damages) console.log(`  ${name}: ${damage}`);
console.log(`agents' browsers: ${names.length} attacks tried, ${damages.size} got through`);
if (damages.size > 0) failed = true;

for (const [number, { name, attacks, changes }] of BROWSER_DEFENCES.entries()) {
  const succeeded = await attack(await loadParts(String(number), changes), attacks);
  const resisted = attacks.filter((each) => !succeeded.has(each));
  const outcome = resisted.length === 0 ? "caught" : `NOT CAUGHT: ${resisted.join(", ")}`;
  console.log(`without "${name}": ${outcome}`);
  if (resisted.length > 0) failed = true;
}
process.exit(failed ? 1 : 0);
