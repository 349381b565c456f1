import { createRequire } from "node:module";
import type { ImportOptions } from "@signalbox/channel/accounts";
import type { Home } from "@signalbox/home";

/** Access to the packages that are installed with a host. */
export interface HostPackages {
  /** Returns the names that cannot be imported. */
  missing(names: readonly string[]): readonly string[];
  /** Returns the URL of a package's main file. */
  urlOf(name: string): string;
  load(name: string): Promise<Readonly<Record<string, unknown>>>;
}

/** The locations to search for configured packages. */
export interface PackagePlaces {
  /** The first location to search. */
  readonly home: Pick<Home, "dir">;
  readonly packages: HostPackages;
  /** Folders that agents can write to. Packages in these folders are not loaded. */
  readonly workspaces: readonly string[];
}

export function importsFrom({ home, packages, workspaces }: PackagePlaces): ImportOptions {
  return { load: (name) => packages.load(name), home: home.dir, closed: workspaces };
}

/**
 * Resolves packages as a module does: optional vendor SDKs, and packages that people add.
 *
 * @param within packages that the module's own bundle contains
 */
export function packagesFrom(module: ImportMeta, within: readonly string[] = []): HostPackages {
  const { resolve } = createRequire(module.url);
  const isInstalled = (name: string): boolean => {
    try {
      resolve(name);
      return true;
    } catch (error) {
      // An ES module without a `require` entry exists but cannot be resolved here.
      return !(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND");
    }
  };
  return {
    missing: (names) => names.filter((name) => !within.includes(name) && !isInstalled(name)),
    urlOf: (name) => module.resolve(name),
    load: (name) => import(module.resolve(name)),
  };
}

type Env = Readonly<Record<string, string | undefined>>;

/** Returns instructions to install missing packages. */
export function installCommand(names: readonly string[], env: Env = process.env): string {
  return isInImage(env)
    ? imageCommand(names)
    : `Install what is missing where the gateway is installed: npm install ${names.join(" ")}`;
}

/** Returns true if the gateway runs in its container image, whose packages are fixed when it is built. */
export function isInImage(env: Env): boolean {
  return (env["SIGNALBOX_IMAGE"] ?? "") !== "";
}

/** Returns instructions to build the image with further packages. */
export function imageCommand(names: readonly string[]): string {
  return `Add ${names.join(" ")} to SDKS in .env next to compose.yaml, and run \`docker compose up -d --build\`.`;
}
