import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { GatewayError, type Home, hasDatabase } from "@signalbox/home";
import {
  createPathLookup,
  getInstallCommands,
  type InstallCommand,
  type SkillInstall,
  type SkillReport,
} from "@signalbox/skills";
import { escapeInvisible } from "@signalbox/tools";
import { resolveAgents } from "../../configure/agents.ts";
import { resolveSkills } from "../../configure/skills.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { shellWord } from "../format-command.ts";
import { withSkillPins } from "../home-pins.ts";
import { withStore } from "../home-store.ts";
import type { ConfiguredHome, GatewayHost } from "../host.ts";
import { askNobody, askTerminal } from "../init/asker.ts";
import { print } from "../output.ts";

interface InstallOptions extends CommonOptions {
  readonly with?: string;
  readonly yes?: boolean;
}

/**
 * `signalbox skills install <name>`: prints the exact commands, and runs them if the person at the terminal agrees.
 * There is no tool for this, so a model cannot install anything. Agents' commands can only read the installed files.
 */
export async function install(name: string, options: InstallOptions, host: GatewayHost): Promise<void> {
  const configured = configuredHome(options);
  const { home, env } = configured;
  const report = await findSkill(name, configured, host);
  const way = chooseMethod(report, options.with, env);
  const commands = getInstallCommands(way, report.skill, home.programsDir);
  const lines = commands.map(commandLine);
  if (!(await confirmInstall(options, name, lines)))
    throw new GatewayError("failure", "Nothing was installed. Confirm at a terminal, or pass --yes.");
  await addAuditEntry(options, home, name, lines);
  await mkdir(join(home.programsDir, "bin"), { recursive: true });
  const failed = await runAll(commands, env);
  if (failed !== undefined) throw new GatewayError("failure", `This failed: ${failed}`);
  const { eligible, reasons } = await findSkill(name, configured, host);
  print(options.json, { id: name, installed: lines, eligible, reasons }, () => [
    eligible
      ? `Installed. Agents can now use the skill ${name}; a running gateway picks it up within a minute.`
      : `Installed. The skill ${name} still cannot be used: ${reasons.map(({ message }) => message).join(" ")}`,
  ]);
}

/** Returns the skill of the first agent that may use it, based on the current state of the machine. */
async function findSkill(
  name: string,
  { home, loaded, env }: ConfiguredHome,
  { skillsDir: bundledDir }: GatewayHost,
): Promise<SkillReport> {
  const agents = resolveAgents(loaded, home);
  const checks = await withSkillPins(home, "read", async (pins) => {
    const { check } = await resolveSkills({ loaded, home, agents, env, bundledDir, pins });
    return Promise.all(agents.shards.map(check));
  });
  const named = checks.flatMap(({ skills }) => skills).filter(({ skill }) => skill.id === name);
  const lacks = ({ reasons }: SkillReport, ...requirements: readonly string[]) =>
    reasons.some(({ requirement }) => requirements.includes(requirement));
  const report = named.find((each) => !lacks(each, "allowed", "enabled", "pin")) ?? named[0];
  if (report === undefined)
    throw new GatewayError(
      "failure",
      `There is no skill ${name}. \`signalbox skills list\` shows all skills.`,
    );
  if (lacks(report, "pin"))
    throw new GatewayError(
      "failure",
      `The skill ${name} needs your approval first. See \`signalbox skills changes\`.`,
    );
  return report;
}

/** Returns the named installation method, or the first one for this platform whose installer is available. */
function chooseMethod(
  { skill }: SkillReport,
  named: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): SkillInstall {
  const { id, install } = skill;
  const { platform } = process;
  const isHere = createPathLookup(env, platform, Date.now);
  const usable = install.filter(
    (way) =>
      (way.os.length === 0 || way.os.includes(platform)) &&
      getInstallCommands(way, skill, "").every(({ program }) => isHere(program)),
  );
  const way = named === undefined ? usable[0] : usable.find(({ id: of }) => of === named);
  if (way !== undefined) return way;
  const offered = install.map(({ id: of, kind }) => `${of} (${kind})`).join(", ");
  throw new GatewayError(
    "failure",
    offered === ""
      ? `The skill ${id} has no install instructions that can be run. Its SKILL.md may explain what to do.`
      : `The skill ${id} can be installed with ${escapeInvisible(offered)}; ${named === undefined ? "none of these works on this machine" : `"${named}" is not one of these or does not work on this machine`}.`,
  );
}

/** Formats a command for a shell. */
function commandLine({ program, args, env, expected, limit }: InstallCommand): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)}`);
  const check = expected === undefined ? [] : [`# its SHA-256 must be ${expected.sha256}`];
  const size = limit === undefined ? [] : [`# at most ${limit.bytes} bytes`];
  return [...settings, program, ...args.map(shellWord), ...check, ...size].join(" ");
}

async function confirmInstall(
  { yes, json }: InstallOptions,
  name: string,
  lines: readonly string[],
): Promise<boolean> {
  const asker = json !== true && process.stdin.isTTY === true ? await askTerminal() : askNobody();
  asker.say(
    [
      `To install what the skill ${name} needs, this runs with all your user's rights:`,
      ...lines.map((line) => `  ${escapeInvisible(line)}`),
    ].join("\n"),
  );
  return yes === true || asker.confirm("Run this?");
}

/** Environment variables that are passed to installers. They do not include the gateway's keys. */
const PASSED_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_.*|TMPDIR|(?:https?|no|all)_proxy|SSL_CERT_.*|NODE_EXTRA_CA_CERTS|HOMEBREW_.*|GOPROXY|GOPATH|GOMODCACHE|GOCACHE|XDG_.*)$/i;

/** Runs commands one after the other and returns the one that failed, if any. */
async function runAll(
  commands: readonly InstallCommand[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const usual = Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_VARIABLES.test(name)));
  for (const command of commands)
    if ((await run(command, { ...usual, ...command.env })) !== 0 || !(await isAsExpected(command)))
      return commandLine(command);
  return undefined;
}

async function isAsExpected({ expected }: InstallCommand): Promise<boolean> {
  if (expected === undefined) return true;
  const hash = createHash("sha256");
  await pipeline(createReadStream(expected.file), hash);
  return hash.digest("hex") === expected.sha256;
}

/** Interval between two checks of a folder's size, in milliseconds. */
const SIZE_CHECK_MS = 100;
/** Number of bytes that an entry takes in addition to its content, because an archive may consist of empty files. */
const ENTRY_BYTES = 4_096;

async function run({ program, args, limit }: InstallCommand, env: NodeJS.ProcessEnv): Promise<number> {
  const ending = new AbortController();
  const isTooLarge = limit !== undefined && exceedsLimit(limit, ending.signal);
  const code = await new Promise<number>((resolve) => {
    // The output goes to standard error, because standard output is for the result of this command.
    const child = spawn(program, args, { env, stdio: ["ignore", process.stderr, "inherit"] });
    if (isTooLarge !== false) void isTooLarge.then((exceeded) => exceeded && child.kill("SIGKILL"));
    child.once("error", () => resolve(1));
    child.once("close", (exit) => resolve(exit ?? 1));
  });
  ending.abort();
  return (await isTooLarge) ? 1 : code;
}

/** Resolves with true as soon as a folder exceeds its limit, or with false if the signal is aborted first. */
async function exceedsLimit(
  { folder, bytes }: NonNullable<InstallCommand["limit"]>,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const isLast = signal.aborted;
    if ((await measureFolder(folder)) > bytes) return true;
    if (isLast) return false;
    await setTimeout(SIZE_CHECK_MS, undefined, { signal }).catch(() => {});
  }
}

async function measureFolder(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    bytes += ENTRY_BYTES;
    if (entry.isFile())
      bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}

async function addAuditEntry(
  options: CommonOptions,
  home: Home,
  name: string,
  lines: readonly string[],
): Promise<void> {
  // There is no audit log before the gateway has started for the first time.
  if (!(await hasDatabase(home))) return;
  await withStore(options, "share", ({ audit }) =>
    audit.append({
      at: Date.now(),
      kind: "approval",
      action: "allowed",
      actor: "command line",
      subject: `installation for the skill ${name}`,
      details: { commands: lines.join("\n") },
    }),
  );
}
