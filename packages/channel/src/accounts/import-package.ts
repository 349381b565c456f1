import { readFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isPayload } from "../inbound/payload.ts";

export interface ImportOptions {
  /** Imports a package from where the host's own packages are. */
  readonly load: (packageName: string) => Promise<Readonly<Record<string, unknown>>>;
  /** A folder with packages of its own in `node_modules`, looked at first. Relative paths begin here. */
  readonly home?: string;
}

/**
 * What a package exports that a configuration names.
 *
 * @param packageName an npm package, or the path of a folder that holds one: `./my-package`
 * @throws whatever keeps it from being loaded
 */
export async function importPackage(
  packageName: string,
  { load, home }: ImportOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const url = home === undefined ? undefined : await urlInHome(packageName, home);
  return url === undefined ? load(packageName) : import(url);
}

/** The file that a package in the home begins with, as a URL; undefined where the home has none of that name. */
export async function urlInHome(packageName: string, home: string): Promise<string | undefined> {
  const file = await fileOf(packageName, home);
  return file === undefined ? undefined : pathToFileURL(file).href;
}

/**
 * The file that a package in the home begins with; undefined where the home has none of that name.
 *
 * @throws Error where a folder that is named holds no package
 */
async function fileOf(packageName: string, home: string): Promise<string | undefined> {
  const isPath = /^\.{1,2}(?:[/\\]|$)/.test(packageName) || isAbsolute(packageName);
  const folder = isPath ? resolve(home, packageName) : join(home, "node_modules", packageName);
  const text = await readFile(join(folder, "package.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (!isPath && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const manifest: unknown = JSON.parse(text);
  const { exports, main } = isPayload(manifest) ? manifest : {};
  const root = isPayload(exports) && "." in exports ? exports["."] : exports;
  return join(folder, entryIn(root) ?? (typeof main === "string" ? main : "index.js"));
}

/** What an ES module gets of an entry of `exports`. */
function entryIn(entry: unknown): string | undefined {
  if (typeof entry === "string") return entry;
  if (!isPayload(entry)) return undefined;
  const condition = Object.keys(entry).find((name) => ["import", "node", "default"].includes(name));
  return condition === undefined ? undefined : entryIn(entry[condition]);
}
