import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, extname, join } from "node:path";
import { type ConfigEdit, editConfig, loadConfig, type Problem } from "@signalbox/config";
import { EXIT, GatewayError } from "../errors.ts";
import { secretSources } from "../secrets/sources.ts";
import { type Home, prepareHome } from "./home.ts";
import type { Env } from "./settings.ts";

/** A configuration as it was before a change. */
export interface ConfigVersion {
  /** When it was replaced, in UTC: `2026-11-22T14-35-00.000Z`. */
  readonly id: string;
  readonly file: string;
}

/** How many are kept. */
const MOST_VERSIONS = 20;

/**
 * Changes values of the configuration, as long as nothing is wrong afterwards that was not before.
 *
 * @throws ConfigError, GatewayError naming what would be wrong; nothing was changed
 */
export function changeConfig(home: Home, env: Env, edits: readonly ConfigEdit[], now: Date): void {
  const before = readText(home.configFile);
  const after = editConfig(home.configFile, before, edits);
  const known = new Set(problemsOf(home, env, before).map(({ path, message }) => `${path} ${message}`));
  const [fault] = problemsOf(home, env, after).filter(
    ({ path, message }) => !known.has(`${path} ${message}`),
  );
  if (fault !== undefined)
    throw new GatewayError(EXIT.config, `Not changed: ${fault.path}: ${fault.message}. ${fault.remedy}`);
  replaceConfig(home, after, now);
}

/** The versions that are kept, the latest first. */
export function configVersions(home: Home): readonly ConfigVersion[] {
  const folder = versionsFolder(home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .reverse()
    .map((name) => ({ id: basename(name, extname(name)), file: join(folder, name) }));
}

/** Puts an earlier version in the place of the configuration, which is kept like any other. @throws GatewayError */
export function restoreConfig(home: Home, id: string, now: Date): void {
  const version = configVersions(home).find((kept) => kept.id === id);
  if (version === undefined)
    throw new GatewayError(
      EXIT.failure,
      `There is no version ${id}. \`signalbox config history\` lists them.`,
    );
  replaceConfig(home, readText(version.file), now);
}

/** Whole or not at all: a crash leaves the one file or the other. */
function replaceConfig(home: Home, text: string, now: Date): void {
  prepareHome(home);
  if (existsSync(home.configFile)) keepVersion(home, now);
  const next = `${home.configFile}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, home.configFile);
}

function keepVersion(home: Home, now: Date): void {
  const folder = versionsFolder(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${now.toISOString().replaceAll(":", "-")}${extname(home.configFile)}`;
  writeFileSync(join(folder, name), readText(home.configFile), { mode: 0o600 });
  for (const { file } of configVersions(home).slice(MOST_VERSIONS)) rmSync(file);
}

function versionsFolder(home: Home): string {
  return join(home.dir, "config-history");
}

function problemsOf(home: Home, env: Env, text: string): readonly Problem[] {
  return loadConfig({ file: home.configFile, text, env, sources: secretSources(home, env) }).problems;
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/**
 * Keeps a secret in a file of the home that its owner alone can read.
 *
 * @returns what stands for it in the configuration
 */
export function keepSecret(home: Home, name: string, value: string): string {
  const folder = join(home.dir, "secrets");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  writeFileSync(file, `${value}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return `\${file:secrets/${name}}`;
}
