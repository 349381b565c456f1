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

/** A previous version of the configuration. */
export interface ConfigVersion {
  /** Time at which it was replaced, in UTC: `2026-11-22T14-35-00.000Z`. */
  readonly id: string;
  readonly file: string;
}

/** Number of previous versions to keep. */
const MAX_VERSIONS = 20;

/** Returns the previous versions, latest first. */
export function configVersions(home: Home): readonly ConfigVersion[] {
  const folder = versionsFolder(home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .reverse()
    .map((name) => ({ id: basename(name, extname(name)), file: join(folder, name) }));
}

/**
 * Restores a previous version of the configuration. The replaced one becomes a previous version. @throws GatewayError
 */
export function restoreConfig(home: Home, id: string, now: Date): void {
  const version = configVersions(home).find((kept) => kept.id === id);
  if (version === undefined)
    throw new GatewayError("failure", `There is no version ${id}. \`signalbox config history\` lists them.`);
  replaceConfig(home, configText(version.file), now);
}

/**
 * Replaces the configuration atomically and keeps the previous version. If the file is a symbolic link, replaces its
 * target.
 */
export function replaceConfig(home: Home, text: string, now: Date): void {
  prepareHome(home);
  const isThere = existsSync(home.configFile);
  if (isThere) storeVersion(home, now);
  const file = isThere ? realpathSync(home.configFile) : home.configFile;
  const next = `${file}.next`;
  writeFileSync(next, text, { mode: 0o600, flush: true });
  chmodSync(next, 0o600);
  renameSync(next, file);
}

function storeVersion(home: Home, now: Date): void {
  const folder = versionsFolder(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const taken = new Set(configVersions(home).map(({ id }) => id));
  let at = now;
  while (taken.has(idOf(at))) at = new Date(at.getTime() + 1);
  const name = `${idOf(at)}${extname(home.configFile)}`;
  writeFileSync(join(folder, name), configText(home.configFile), { mode: 0o600 });
  for (const { file } of configVersions(home).slice(MAX_VERSIONS)) rmSync(file);
}

function idOf(at: Date): string {
  return at.toISOString().replaceAll(":", "-");
}

function versionsFolder(home: Home): string {
  return join(home.dir, "config-history");
}

/** Returns the text of a configuration file; empty if it does not exist. */
export function configText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // An unreadable file is an error, because the defaults must not replace its settings.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw error;
  }
}
