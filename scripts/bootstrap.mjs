// What `npm start`, `npm test` and their like run: with any Node.js ≥ 20 and npm, and nothing else installed, it
// fetches the pinned pnpm, installs with a frozen lockfile, builds what changed, and hands over to the pinned Node.js.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tools = join(root, ".tools");
const windows = process.platform === "win32";

const [command, ...rest] = process.argv.slice(2);
const commands = {
  // As in the first line of the gateway's own program.
  start: {
    build: ["--filter=@signalbox/gateway..."],
    run: ["--max-semi-space-size=4", "apps/gateway/dist/cli/main.js", "start"],
  },
  signalbox: { build: ["--filter=@signalbox/gateway..."], run: ["apps/gateway/dist/cli/main.js"] },
  test: { build: [], run: ["scripts/check.mjs"] },
  bench: { build: [], run: ["scripts/bench.mjs"] },
  prove: { build: [], run: ["scripts/prove.mjs"] },
};
if (!Object.hasOwn(commands, command ?? "")) {
  fail(`Usage: node scripts/bootstrap.mjs ${Object.keys(commands).join("|")} [arguments]`, 64);
}
if (Number(process.versions.node.split(".")[0]) < 20) {
  fail(`Node.js ${process.versions.node} is too old to install Signalbox. Install Node.js 20 or newer.`, 1);
}

const pnpm = pinnedPnpm();
install();
const node = pinnedNode();
// Everything below runs on the pinned Node.js: turbo, the compiler, the tests.
const env = {
  // Read by the gateway alone; what the caller has set wins.
  ...(command === "start" ? { MALLOC_ARENA_MAX: "1" } : {}),
  ...process.env,
  PATH: [
    dirname(node),
    join(root, "node_modules", ".bin"),
    // Turbo runs scripts through the package manager and looks for it here.
    join(tools, "node_modules", ".bin"),
    process.env.PATH,
  ].join(windows ? ";" : ":"),
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
};
const { build: buildArguments, run: runArguments } = commands[command];
build(buildArguments);
handOver(node, [...runArguments, ...rest]);

/** The command that runs the pinned pnpm: the one that called us, or ours under .tools. */
function pinnedPnpm() {
  const wanted = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager.split("@")[1];
  const folder = join(tools, "node_modules", "pnpm");
  const entry = join(folder, "bin", "pnpm.mjs");
  const have = existsSync(entry)
    ? JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version
    : undefined;
  if (have !== wanted) {
    say(`Fetching pnpm ${wanted}`);
    mkdirSync(tools, { recursive: true });
    writeFileSync(join(tools, "package.json"), '{ "private": true }\n');
    const npm = windows ? "npm.cmd" : "npm";
    const flags = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--save-exact"];
    must(npm, ["install", ...flags, `pnpm@${wanted}`], { cwd: tools, shell: windows });
  }
  return [process.execPath, entry];
}

/** Installs when a manifest, the lockfile or the settings changed since the last time. */
function install() {
  const manifests = [
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "package.json",
    ...members().map((m) => join(m, "package.json")),
  ];
  const now = digest(manifests.map((file) => `${file}\n${readFileSync(join(root, file), "utf8")}`));
  const stamp = join(tools, "installed");
  if (read(stamp) === now && existsSync(join(root, "node_modules", ".modules.yaml"))) return;
  say("Installing dependencies");
  must(pnpm[0], [pnpm[1], "install", "--frozen-lockfile"], {
    cwd: root,
    env: { ...process.env, CI: "true" },
  });
  mkdirSync(tools, { recursive: true });
  writeFileSync(stamp, now);
}

/** The Node.js of the npm package `node`; the running one where it could not be installed but is new enough. */
function pinnedNode() {
  const pinned = join(root, "node_modules", "node", "bin", windows ? "node.exe" : "node");
  if (existsSync(pinned)) return pinned;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath;
  return fail(
    "The pinned Node.js could not be installed for this platform. Install Node.js 22.12 or newer and run again.",
    1,
  );
}

/** Runs turbo unless no source changed since the last build; turbo itself rebuilds only what changed. */
function build(filter) {
  const names = ["src", "migrations", "scripts", "index.html", "vite.config.ts", "tsconfig.build.json"];
  const files = [join(root, "tsconfig.base.json"), join(root, "turbo.json")];
  for (const member of members()) for (const name of names) walk(join(root, member, name), files);
  const now = digest([
    filter.join(" "),
    read(join(tools, "installed")) ?? "",
    ...files.map((file) => {
      const { mtimeMs, size } = statSync(file);
      return `${file} ${mtimeMs} ${size}`;
    }),
  ]);
  const stamp = join(tools, `built-${filter.length === 0 ? "all" : "gateway"}`);
  const built = filter.length === 0 ? members().filter((m) => m.startsWith("packages")) : ["apps/gateway"];
  if (read(stamp) === now && built.every((member) => existsSync(join(root, member, "dist")))) return;
  say("Building");
  rmSync(stamp, { force: true });
  const turbo = join(root, "node_modules", ".bin", windows ? "turbo.cmd" : "turbo");
  must(turbo, ["run", "build", ...filter, "--output-logs=errors-only", "--no-update-notifier"], {
    cwd: root,
    env,
    shell: windows,
  });
  writeFileSync(stamp, now);
}

/** Runs the program in this terminal, passes signals on, and ends as it ended. */
function handOver(program, parameters) {
  const cwd = command === "test" || command === "bench" ? root : process.cwd();
  const child = spawn(program, parameters, { cwd, env, stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // `npm start` puts a shell between itself and us that does not pass signals on: its death is the signal.
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
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.removeAllListeners(name);
  });
}

function members() {
  return ["packages", "apps"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((member) => existsSync(join(root, member, "package.json"))),
  );
}

function walk(path, into) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) into.push(path);
  if (found?.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name), into);
}

function digest(parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part}\n`);
  return hash.digest("hex");
}

function read(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function must(program, parameters, options) {
  const { status, error } = spawnSync(program, parameters, {
    stdio: ["ignore", "inherit", "inherit"],
    ...options,
  });
  if (error) fail(`${program}: ${error.message}`, 1);
  if (status !== 0) process.exit(status ?? 1);
}

function say(text) {
  process.stderr.write(`signalbox: ${text} …\n`);
}

function fail(text, code) {
  process.stderr.write(`signalbox: ${text}\n`);
  process.exit(code);
}
