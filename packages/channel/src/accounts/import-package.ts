import { readFile, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isPayload } from "../inbound/payload.ts";

export interface ImportOptions {
  /** Imports a package from where the host's own packages are. */
  readonly load: (packageName: string) => Promise<Readonly<Record<string, unknown>>>;
  /** A folder with packages of its own in `node_modules`, looked at first. Relative paths begin here. */
  readonly home?: string;
  /** Folders whose code is not loaded: anyone who can write there could run code in the host. Default: none. */
  readonly closed?: readonly string[];
}

/**
 * What a package exports that a configuration names.
 *
 * @param packageName an npm package, or the path of a folder that holds one: `./my-package`
 * @throws whatever keeps it from being loaded
 */
export async function importPackage(
  packageName: string,
  { load, home, closed = [] }: ImportOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const url = home === undefined ? undefined : await urlInHome(packageName, home);
  if (url !== undefined || packageName.startsWith("file:")) await assertOutside(url ?? packageName, closed);
  return url === undefined ? load(packageName) : import(url);
}

/** By where the file really is, links followed. */
async function assertOutside(url: string, closed: readonly string[]): Promise<void> {
  const place = await realpath(fileURLToPath(url));
  for (const folder of closed) {
    const real = await realpath(folder).catch(() => resolve(folder));
    if (place.startsWith(`${real}${sep}`))
      throw new Error(
        `it is in ${folder}, where agents can write, so that they could change what the gateway runs`,
      );
  }
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
