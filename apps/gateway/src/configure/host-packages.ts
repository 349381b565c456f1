import { createRequire } from "node:module";
import type { ImportOptions } from "@signalbox/channel/accounts";
import type { Home } from "@signalbox/home";

/** Packages as a host sees them from where it is installed. */
export interface HostPackages {
  /** Returns the names that cannot be imported. */
  missing(names: readonly string[]): readonly string[];
  /** The file that one begins with, as a URL. */
  urlOf(name: string): string;
  load(name: string): Promise<Readonly<Record<string, unknown>>>;
}

/** Places in which packages named in the configuration are looked up. */
export interface PackagePlaces {
  /** The first place. */
  readonly home: Pick<Home, "dir">;
  readonly packages: Pick<HostPackages, "load">;
  /** Code of theirs is not loaded: agents write there. */
  readonly workspaces: readonly string[];
}

export function importsFrom({ home, packages, workspaces }: PackagePlaces): ImportOptions {
  return { load: (name) => packages.load(name), home: home.dir, closed: workspaces };
}

/**
 * Packages as a module sees them: SDKs of vendors, which people install as they need them, and what they add.
 * @param within those that the module's own program holds
 */
export function packagesFrom(
  module: Pick<ImportMeta, "url" | "resolve">,
  within: readonly string[] = [],
): HostPackages {
  const { resolve } = createRequire(module.url);
  const isInstalled = (name: string): boolean => {
    try {
      resolve(name);
      return true;
    } catch (error) {
      // A package for ES modules alone is there, and has nothing for `require`.
      return !(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND");
    }
  };
  return {
    missing: (names) => names.filter((name) => !within.includes(name) && !isInstalled(name)),
    urlOf: (name) => module.resolve(name),
    load: (name) => import(module.resolve(name)),
  };
}

/** The command that installs missing packages. */
export function installCommand(names: readonly string[]): string {
  return `Install what is missing where the gateway is installed: npm install ${names.join(" ")}`;
}
