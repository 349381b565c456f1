import { readFile, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isPayload } from "../inbound/payload.ts";

export interface ImportOptions {
  /** Imports a package from the host's own dependencies. */
  readonly load: (packageName: string) => Promise<Readonly<Record<string, unknown>>>;
  /** A folder whose `node_modules` is searched first. Relative paths are resolved from here. */
  readonly home?: string;
  /** Folders that agents can write to. Code is never loaded from them. Default: none. */
  readonly closed?: readonly string[];
}

/**
 * Imports a package named in a configuration and returns its exports.
 *
 * @param packageName an npm package, or the path of a folder with one: `./my-package`
 * @throws Error if it cannot be loaded
 */
export async function importPackage(
  packageName: string,
  { load, home, closed = [] }: ImportOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const url = home === undefined ? undefined : await resolveInHome(packageName, home);
  if (url !== undefined || packageName.startsWith("file:")) await assertOutside(url ?? packageName, closed);
  return url === undefined ? load(packageName) : import(url);
}

/** Checks the real path of the file, with symbolic links resolved. */
async function assertOutside(url: string, closed: readonly string[]): Promise<void> {
  const place = await realpath(fileURLToPath(url));
  for (const folder of closed) {
    const real = await realpath(folder).catch(() => resolve(folder));
    if (place.startsWith(`${real}${sep}`))
      throw new Error(
        `it is in ${folder}, where agents can write, so agents could change code that the gateway runs`,
      );
  }
}

/** Returns the URL of the main file of a package in the home, or `undefined` if the home has no such package. */
export async function resolveInHome(packageName: string, home: string): Promise<string | undefined> {
  const file = await findMainFile(packageName, home);
  return file === undefined ? undefined : pathToFileURL(file).href;
}

/**
 * Returns the path of the main file of a package in the home, or `undefined` if the home has no such package.
 *
 * @throws Error if `packageName` is the path of a folder without a package
 */
async function findMainFile(packageName: string, home: string): Promise<string | undefined> {
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
  return join(folder, resolveExport(root) ?? (typeof main === "string" ? main : "index.js"));
}

/** Resolves an entry of `exports` for an ES module. */
function resolveExport(entry: unknown): string | undefined {
  if (typeof entry === "string") return entry;
  if (!isPayload(entry)) return undefined;
  const condition = Object.keys(entry).find((name) => ["import", "node", "default"].includes(name));
  return condition === undefined ? undefined : resolveExport(entry[condition]);
}
