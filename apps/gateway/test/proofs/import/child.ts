/** Imports a home of OpenClaw and prints the time and the memory that it took. */
import { mkdirSync } from "node:fs";
import { locateHome } from "@signalbox/home";
import { openStore } from "@signalbox/store";
import { importHome } from "../../../src/import/import-home.ts";

const [dir = "", target = ""] = process.argv.slice(2);
mkdirSync(target, { mode: 0o700 });
const home = locateHome(target, {});
const store = await openStore({ path: home.databaseFile });
const started = performance.now();
const { items } = await importHome(home, store, {
  system: "openclaw",
  dir,
  apply: true,
  secrets: false,
  only: undefined,
  force: new Set(),
  agents: {},
  accounts: {},
  owners: [],
  trustMemory: false,
  all: false,
  keepUnsupported: false,
  inPlace: false,
  hiddenMessagesMs: Number.MAX_SAFE_INTEGER,
  env: {},
  now: Date.now(),
  timeZone: "UTC",
});
const seconds = (performance.now() - started) / 1_000;
await store.close();
const sessions = items.filter(({ part, state }) => part === "sessions" && state === "imported").length;
const megabytes = process.resourceUsage().maxRSS / 1_000;
process.stdout.write(`${JSON.stringify({ seconds, megabytes, sessions })}\n`);
