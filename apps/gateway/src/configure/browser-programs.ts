import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { configuredPath, type Home } from "@signalbox/home";
import type { Agents } from "./agents.ts";
import type { HostPackages } from "./host-packages.ts";

/** The programs that an agent's browser consists of. */
export interface BrowserPrograms {
  /** Folder of `@playwright/mcp`. */
  readonly serverDir: string;
  readonly serverVersion: string;
  /** Folder of `playwright-core`, which `@playwright/mcp` needs. */
  readonly coreDir: string;
  /** Absolute path of the browser, with links resolved. */
  readonly executable: string;
  /** A folder outside the system's folders that contains the browser. */
  readonly executableDir: string | undefined;
}

/** The reason why there is no browser. */
export interface MissingBrowser {
  readonly key: "enabled" | "executable" | "package";
  readonly message: string;
  readonly remedy: string;
}

const PACKAGE = "@playwright/mcp";
/** Tested version, for the command that installs the package. */
const TESTED_VERSION = "0.0.83";
/** The wrapper scripts of distributions come last, because they read settings of the user. */
const EXECUTABLES = [
  "/usr/lib/chromium/chromium",
  "/usr/lib64/chromium-browser/chromium-browser",
  "/opt/google/chrome/chrome",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
];
/** Folders that are readable in every sandbox. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

type BrowserHost = { readonly home: Pick<Home, "dir">; readonly packages: HostPackages };

/** Finds the programs of the configured browser. */
export function findBrowserPrograms(
  { tools: { browser } }: Pick<Config, "tools">,
  { home, packages }: BrowserHost,
  platform: NodeJS.Platform = process.platform,
): BrowserPrograms | MissingBrowser {
  if (platform !== "linux")
    return {
      key: "enabled",
      message: `a browser runs only in the sandbox, which needs Linux, and this is ${platform}`,
      remedy: "Run the gateway in a container or a virtual machine with Linux, or set it to false.",
    };
  if (!isInPath("bwrap"))
    return {
      key: "enabled",
      message: "a browser runs only in the sandbox, and bubblewrap is not installed",
      remedy: "Install it (Debian and Ubuntu: apt-get install bubblewrap).",
    };
  const server = findServer(browser.package, { home, packages });
  if ("key" in server) return server;
  const executable = findExecutable(browser.executable, home);
  return "key" in executable ? executable : { ...server, ...executable };
}

/** Reports the parts of the browser that are missing, and agents that list its tools although it is turned off. */
export function browserProblems(
  { config, problem }: LoadedConfig,
  agents: Pick<Agents, "all">,
  host: BrowserHost,
): Problem[] {
  if (!config.tools.browser.enabled) {
    const users = agents.all.filter(({ tools }) => tools.allow.some(namesBrowser)).map(({ id }) => id);
    if (users.length === 0) return [];
    return [
      problem(["tools", "browser", "enabled"], {
        severity: "warning",
        message: `${users.join(", ")} may use the browser, but it is not enabled`,
        remedy:
          "Set tools.browser.enabled to true (docs/guides/browser.md), or remove the tools from the list.",
      }),
    ];
  }
  const found = findBrowserPrograms(config, host);
  if (!("key" in found)) return [];
  const { key, message, remedy } = found;
  return [
    problem(["tools", "browser", key], {
      severity: "error",
      message,
      remedy,
      disables: "the browser_* tools",
    }),
  ];
}

function namesBrowser(name: string): boolean {
  return name === "group:browser" || name.startsWith("browser_");
}

function findServer(
  configured: string | undefined,
  { home, packages }: BrowserHost,
): Pick<BrowserPrograms, "serverDir" | "serverVersion" | "coreDir"> | MissingBrowser {
  const dir = configured === undefined ? findPackage(home, packages) : configuredPath(home, configured);
  const version = dir === undefined ? undefined : readVersion(dir);
  if (dir === undefined || version === undefined)
    return {
      key: "package",
      message:
        configured === undefined
          ? `${PACKAGE} is not installed`
          : `${configured} does not contain ${PACKAGE}`,
      remedy: `Install it with: npm install --prefix ${home.dir} ${PACKAGE}@${TESTED_VERSION}`,
    };
  try {
    const serverDir = realpathSync(dir);
    const core = createRequire(join(serverDir, "package.json")).resolve("playwright-core/package.json");
    return { serverDir, serverVersion: version, coreDir: dirname(realpathSync(core)) };
  } catch {
    return {
      key: "package",
      message: `${PACKAGE} in ${dir} lacks the package playwright-core`,
      remedy: `Install it again with: npm install --prefix ${home.dir} ${PACKAGE}@${TESTED_VERSION}`,
    };
  }
}

/** Searches the home and then the gateway's own packages. */
function findPackage(home: Pick<Home, "dir">, packages: HostPackages): string | undefined {
  const inHome = join(home.dir, "node_modules", PACKAGE);
  if (existsSync(inHome)) return inHome;
  try {
    return dirname(fileURLToPath(packages.urlOf(PACKAGE)));
  } catch {
    return undefined;
  }
}

function readVersion(dir: string): string | undefined {
  try {
    const { name, version }: { name?: unknown; version?: unknown } = JSON.parse(
      readFileSync(join(dir, "package.json"), "utf8"),
    );
    return name === PACKAGE && typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

function findExecutable(
  configured: string | undefined,
  home: Pick<Home, "dir">,
): Pick<BrowserPrograms, "executable" | "executableDir"> | MissingBrowser {
  const path =
    configured === undefined
      ? EXECUTABLES.find((each) => existsSync(each))
      : configuredPath(home, configured);
  const install =
    "Install Chromium (Debian: apt-get install chromium) or Google Chrome, or set tools.browser.executable. Ubuntu's Chromium is a snap, which does not run in the sandbox.";
  if (path === undefined)
    return { key: "executable", message: "there is no Chromium on this machine", remedy: install };
  if (!isAbsolute(path) || !existsSync(path))
    return { key: "executable", message: `there is no program ${path}`, remedy: install };
  const executable = realpathSync(path);
  const folder = dirname(executable);
  if (SYSTEM_FOLDERS.some((each) => isWithin(folder, each))) return { executable, executableDir: undefined };
  // The browser can read this folder, so it must contain nothing else.
  if ([home.dir, homedir()].some((each) => isWithin(resolve(each), folder)))
    return {
      key: "executable",
      message: `${folder} contains more than the browser, and the browser could read all of it`,
      remedy: "Move the browser into a folder of its own.",
    };
  return { executable, executableDir: folder };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function isInPath(program: string): boolean {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((dir) => dir !== "" && existsSync(join(dir, program)));
}
