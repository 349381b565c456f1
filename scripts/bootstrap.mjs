// Entry point of `npm start`, `npm test` and similar commands. It requires only Node.js ≥ 20 and npm: it downloads the
// pinned pnpm, installs the locked dependencies, and continues with turbo and the pinned Node.js.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tools = join(root, ".tools");
const windows = process.platform === "win32";
const gateway = join(root, "apps", "gateway", "dist", "signalbox.js");
const script = (name) => join(root, "scripts", name);

/** Packages that the gateway is built from, without development dependencies. */
const GATEWAY_ONLY = [
  "--filter",
  ".",
  "--filter",
  "@signalbox/gateway...",
  "--filter",
  "@signalbox/console...",
  "--prod",
];

/**
 * Parameters for `pnpm install` and turbo, and the program to run afterwards, for each command. `test` builds what it
 * needs itself. `release` starts with a clean build.
 */
const COMMANDS = {
  start: { install: GATEWAY_ONLY, build: ["--filter=@signalbox/gateway"], run: [gateway, "start"] },
  signalbox: { install: GATEWAY_ONLY, build: ["--filter=@signalbox/gateway"], run: [gateway] },
  test: { run: [script("check.mjs")] },
  bench: { build: [], run: [script("bench.mjs")] },
  prove: { build: [], run: [script("prove.mjs")] },
  release: { isFresh: true, build: [], run: [script("release.mjs")] },
};

/** Folders that the gateway is not built from. */
const UNBUILT = new Set(["node_modules", "dist", "test", "bench", ".turbo"]);

const [command, ...parameters] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, command ?? "")) {
  fail(`Usage: node scripts/bootstrap.mjs ${Object.keys(COMMANDS).join("|")} [arguments]`, 64);
}
if (Number(process.versions.node.split(".")[0]) < 20) {
  fail(`Node.js ${process.versions.node} is too old to install Signalbox. Install Node.js 20 or newer.`, 1);
}
const modules = join(root, "node_modules", ".modules.yaml");
const installed = existsSync(modules);
const { install = [], isFresh = false, build, run } = COMMANDS[command];
const builtFile = join(tools, "built.json");
const inputs = install === GATEWAY_ONLY ? fingerprint() : undefined;
const isCurrent = inputs !== undefined && installed && existsSync(gateway) && readBuilt() === inputs;
if (!isCurrent) installPackages();
const node = pinnedNode();
// Everything below runs on the pinned Node.js: turbo, the compiler and the tests.
const env = environment();
if (isFresh) removeBuilds();
if (build !== undefined && !isCurrent) {
  const turbo = join(root, "node_modules", ".bin", windows ? "turbo.cmd" : "turbo");
  work("Building", existsSync(gateway), turbo, ["run", "build", ...build, "--output-logs=errors-only"], env);
  if (inputs !== undefined) writeFileSync(builtFile, JSON.stringify(inputs));
}
handOver(node, [...run, ...parameters]);

function installPackages() {
  work("Installing dependencies", installed, process.execPath, [
    pinnedPnpm(),
    "install",
    "--frozen-lockfile",
    ...sameStore(),
    // pnpm would remove development dependencies that `npm test` has installed.
    ...(hasDevelopmentDependencies() ? [] : install),
  ]);
}

/**
 * Returns a hash of the names, sizes and modification times of all inputs of the build. If it equals the hash of the
 * last build, both the installation and the build are current.
 */
function fingerprint() {
  const hash = createHash("sha256").update(process.version);
  const add = (path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (!stats.isDirectory()) return void hash.update(`${path} ${stats.size} ${stats.mtimeMs}\n`);
    for (const name of readdirSync(path).sort()) if (!UNBUILT.has(name)) add(join(path, name));
  };
  for (const name of [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "turbo.json",
    "tsconfig.base.json",
  ])
    add(join(root, name));
  for (const name of ["apps", "packages", "scripts", "skills", "docs"]) add(join(root, name));
  return hash.digest("hex");
}

/** Returns the fingerprint of the last build. */
function readBuilt() {
  try {
    return JSON.parse(readFileSync(builtFile, "utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the pinned pnpm's program, and downloads it into `.tools` if it is missing. */
function pinnedPnpm() {
  const wanted = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager.split("@")[1];
  const folder = join(tools, "node_modules", "pnpm");
  const manifest = join(folder, "package.json");
  const have = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : undefined;
  if (have !== wanted) {
    mkdirSync(tools, { recursive: true });
    writeFileSync(join(tools, "package.json"), '{ "private": true }\n');
    const quietly = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
    const fetch = ["install", "--save-exact", ...quietly, "--prefix", tools, `pnpm@${wanted}`];
    work(`Fetching pnpm ${wanted}`, false, windows ? "npm.cmd" : "npm", fetch);
  }
  return join(folder, "bin", "pnpm.mjs");
}

/**
 * Keeps using the package store of the existing installation. The default store depends on the home folder, and pnpm
 * cannot mix packages of two stores.
 */
function sameStore() {
  const store = installed
    ? /^\s*"?storeDir"?: *"?([^"\n]+)/m.exec(readFileSync(modules, "utf8"))?.[1]
    : undefined;
  return store === undefined ? [] : ["--store-dir", store];
}

function hasDevelopmentDependencies() {
  return existsSync(join(root, "node_modules", "vitest"));
}

/** Removes builds before a release, because turbo restores cached files without removing stale ones. */
function removeBuilds() {
  for (const group of ["apps", "packages"])
    for (const name of readdirSync(join(root, group)))
      rmSync(join(root, group, name, "dist"), { recursive: true, force: true });
}

/**
 * Returns the Node.js of the npm package `node`, or the running one if it is missing and the running one is new enough.
 */
function pinnedNode() {
  const pinned = join(root, "node_modules", "node", "bin", windows ? "node.exe" : "node");
  if (existsSync(pinned)) return pinned;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 14)) return process.execPath;
  return fail(
    "The pinned Node.js could not be installed for this platform. Install Node.js 22.14 or newer and run again.",
    1,
  );
}

function environment() {
  return {
    ...process.env,
    PATH: [
      dirname(node),
      join(root, "node_modules", ".bin"),
      // Turbo runs scripts through the package manager and looks for it here.
      join(tools, "node_modules", ".bin"),
      process.env.PATH,
    ].join(delimiter),
    // Commands that the gateway prints work as printed.
    ...(command === "start" || command === "signalbox" ? { SIGNALBOX_COMMAND: "npm run signalbox --" } : {}),
    TURBO_TELEMETRY_DISABLED: "1",
    TURBO_NO_UPDATE_NOTIFIER: "1",
  };
}

/**
 * Runs a program and waits for its end. Shows the output the first time, which takes long; afterwards only if the
 * program fails. Everything goes to standard error, because standard output belongs to the command.
 */
function work(title, doneBefore, program, list, env = { ...process.env, CI: "true" }) {
  if (!doneBefore) process.stderr.write(`signalbox: ${title} …\n`);
  const stdio = doneBefore ? ["ignore", "pipe", "pipe"] : ["ignore", 2, 2];
  const { status, stdout, stderr, error } = spawnSync(program, list, {
    cwd: root,
    env,
    stdio,
    encoding: "utf8",
    shell: windows && program !== process.execPath,
  });
  if (error) fail(`${program}: ${error.message}`, 1);
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}`);
  fail(`${title} failed.`, status ?? 1);
}

/** Runs the program in this terminal, passes signals on, and exits with its exit code. */
function handOver(program, list) {
  const cwd = ["test", "bench", "release"].includes(command) ? root : process.cwd();
  const child = spawn(program, list, { cwd, env, stdio: "inherit" });
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  // `npm start` runs this script in a shell that does not pass signals on, so watch for the shell's death.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 200);
  child.on("error", (error) => fail(error.message, 1));
  child.on("exit", (code, signal) => {
    clearInterval(watch);
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : signal === "SIGTERM" ? 143 : 1);
    for (const name of signals) process.removeAllListeners(name);
  });
}

function fail(text, code) {
  process.stderr.write(`signalbox: ${text}\n`);
  process.exit(code);
}
