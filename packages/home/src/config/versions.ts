import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, extname, join } from "node:path";
import { GatewayError } from "../errors.ts";
import { prepareHome } from "../folders.ts";
import type { Home } from "../layout.ts";

/** A configuration as it was before a change. */
export interface ConfigVersion {
  /** When it was replaced, in UTC: `2026-11-22T14-35-00.000Z`. */
  readonly id: string;
  readonly file: string;
}

/** How many are kept. */
const MOST_VERSIONS = 20;

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
    throw new GatewayError("failure", `There is no version ${id}. \`signalbox config history\` lists them.`);
  replaceConfig(home, configText(version.file), now);
}

/**
 * Writes the configuration anew, and keeps what it was. Whole or not at all: a crash leaves the one file or the other.
 * A link stays one: who keeps the file elsewhere finds the change there.
 */
export function replaceConfig(home: Home, text: string, now: Date): void {
  prepareHome(home);
  const isThere = existsSync(home.configFile);
  if (isThere) keepVersion(home, now);
  const file = isThere ? realpathSync(home.configFile) : home.configFile;
  const next = `${file}.next`;
  writeFileSync(next, text, { mode: 0o600, flush: true });
  chmodSync(next, 0o600);
  renameSync(next, file);
}

function keepVersion(home: Home, now: Date): void {
  const folder = versionsFolder(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const taken = new Set(configVersions(home).map(({ id }) => id));
  let at = now;
  while (taken.has(idOf(at))) at = new Date(at.getTime() + 1);
  const name = `${idOf(at)}${extname(home.configFile)}`;
  writeFileSync(join(folder, name), configText(home.configFile), { mode: 0o600 });
  for (const { file } of configVersions(home).slice(MOST_VERSIONS)) rmSync(file);
}

function idOf(at: Date): string {
  return at.toISOString().replaceAll(":", "-");
}

function versionsFolder(home: Home): string {
  return join(home.dir, "config-history");
}

/** The text of a configuration file; empty if there is none. */
export function configText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // One that is there and cannot be read says something: nobody is to go on with defaults in its place.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw error;
  }
}
