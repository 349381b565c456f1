// `npm run prove -- hostile`, its last part: an agent whose workspace would let it write what the gateway is told at
// its next start. Every such place has to be refused, and a second configuration file beside the first; then each
// refusal is taken away in a copy of the sources, and the places must get through.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Homes from "@signalbox/home";
import * as agents from "../../../src/configure/agents.ts";

const PACKAGES = join(import.meta.dirname, "..", "..", "..", "..", "..", "packages");
const SETUP_SOURCES = join(import.meta.dirname, "..", "..", "..", "src", "configure");
const HOME_SOURCES = join(PACKAGES, "home", "src");

/** Workspaces, by what makes their folder; `own` is the gateway's home. */
const PLACES: readonly ((own: string, base: string) => string)[] = [
  (own) => own,
  (own) => `${own}/`,
  (own) => `${own}/.`,
  (own) => join(own, "workspaces", ".."),
  (own) => `${own}/workspaces/../../home`,
  () => ".",
  () => "workspaces/..",
  (_, base) => base,
  () => "/",
  (own, base) => linked(own, join(base, "link")),
  (own, base) => linked(linked(own, join(base, "first")), join(base, "second")),
  (_own, base) => join(linked(base, join(base, "around")), "home"),
  (own) => linked(own, join(own, "workspaces", "inside")),
  ...["workspaces", "skills", "memory", "logs", "secrets", "media", "config-history", "skill-pins"].map(
    (name) => (own: string) => join(own, name),
  ),
];
const SECOND_FILES = ["signalbox.yml", "signalbox.json", "signalbox.json5"];

function linked(target: string, path: string): string {
  symlinkSync(target, path);
  return path;
}

/** The places and files that get through. */
function attempt(
  homes: typeof Homes,
  { resolveAgents }: typeof agents,
): { readonly tried: number; readonly through: string[] } {
  const through: string[] = [];
  for (const place of PLACES) {
    inHome((own, base) => {
      const workspaceDir = place(own, base);
      const list = [{ id: "coder", tools: { allow: ["exec"] }, workspaceDir }];
      writeFileSync(join(own, "signalbox.yaml"), JSON.stringify({ agents: { list } }));
      const home = homes.locateHome(own, {});
      if (resolveAgents(homes.readConfig(home, {}), home).all.length > 0) through.push(workspaceDir);
    });
  }
  for (const name of SECOND_FILES) {
    inHome((own) => {
      writeFileSync(join(own, "signalbox.yaml"), "gateway: { port: 0 }\n");
      writeFileSync(join(own, name), JSON.stringify({ gateway: { port: 1 } }));
      try {
        homes.readConfig(homes.locateHome(own, {}), {});
        through.push(name);
      } catch {
        // Refused, as it is to be.
      }
    });
  }
  return { tried: PLACES.length + SECOND_FILES.length, through };
}

function inHome(work: (own: string, base: string) => void): void {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "hostile-home-")));
  const own = join(base, "home");
  for (const name of [
    "workspaces",
    "skills",
    "memory",
    "logs",
    "secrets",
    "media",
    "config-history",
    "skill-pins",
  ])
    mkdirSync(join(own, name), { recursive: true });
  try {
    work(own, base);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** A module of a copy of the sources in which a text is replaced. */
async function changed<T>(sources: string, main: string, file: string, from: string, to: string): Promise<T> {
  const copy = `${sources.slice(0, sources.lastIndexOf("/"))}/.defenceless-${process.pid}`;
  cpSync(sources, copy, { recursive: true });
  try {
    const text = readFileSync(join(copy, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
    writeFileSync(join(copy, file), text.replaceAll(from, to));
    return await import(pathToFileURL(join(copy, main)).href);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const homes: typeof Homes = await import(pathToFileURL(join(HOME_SOURCES, "index.ts")).href);
const { tried, through } = attempt(homes, agents);
console.log(`places of a workspace and second configurations: ${tried} tried, ${through.length} got through`);
for (const each of through) console.log("  ", each);
let failed = through.length > 0;

const openHomes: typeof Homes = await changed(
  HOME_SOURCES,
  "index.ts",
  "config/read.ts",
  "home.otherConfigFiles.length > 0",
  "home.otherConfigFiles.length > 99",
);
const openAgents: typeof agents = await changed(
  SETUP_SOURCES,
  "agents.ts",
  "agents.ts",
  "return homeFault(home, dir) ?? programFault(dir) ?? folderFault(dir);",
  "return folderFault(dir);",
);
for (const [name, without, wanted] of [
  ["there is one configuration file", attempt(openHomes, agents), SECOND_FILES.length],
  ["a workspace is never the home", attempt(homes, openAgents), PLACES.length],
] as const) {
  const caught = without.through.length >= wanted;
  console.log(
    `without "${name}": ${caught ? "caught" : `NOT CAUGHT: ${without.through.length} of ${wanted}`}`,
  );
  if (!caught) failed = true;
}
process.exit(failed ? 1 : 0);
