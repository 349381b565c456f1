import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "@signalbox/config";
import {
  ASSUMED_SECRETS,
  configText,
  type Env,
  GatewayError,
  type Home,
  locateHome,
  prepareHome,
  readConfig,
} from "@signalbox/home";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import { readHomeHolder } from "@signalbox/store";
import type { CommonOptions } from "../common-options.ts";
import { configOrExit } from "../configured-home.ts";
import { exitCode } from "../exit-codes.ts";
import { formatCommand } from "../format-command.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { type Command, firstFailure, quoted, run } from "../run-command.ts";
import { launchdPlist, plistHome, type ServiceProgram, systemdUnit, unitHome } from "./service-files.ts";

/** A platform's service manager for user services that run without a login session. */
interface ServiceManager {
  readonly file: string;
  text(program: ServiceProgram): string;
  /** Reads the home from a service file. */
  homeIn(home: string): string;
  /** Commands that enable the service, in order. */
  readonly enable: readonly Command[];
  /** Command that keeps services running after the user logs out, if they would be stopped otherwise. */
  readonly linger?: Command;
  readonly disable: readonly Command[];
  /** Command that exits with an error if the service does not exist or is not running. */
  readonly status: Command;
  /** Returns true if the output of the status command means that the service is running. Default: always true. */
  readonly isRunning?: (output: string) => boolean;
  /** Command that succeeds if the service manager responds. */
  readonly probe: Command;
  /** Remedy if the service manager does not respond. */
  readonly remedy: string;
}

const NAME = "signalbox";
const LABEL = "dev.signalbox.gateway";

/** Result of installing the service. */
export interface Installation {
  readonly file: string;
  /** Reason why the service is not running, with a remedy. */
  readonly failure?: string;
  /** Notes about variables that are set only in this shell, and other advice. */
  readonly notes: readonly string[];
}

/**
 * `signalbox service install`: makes the gateway start with the machine and restart if it fails. With `--system`, a
 * separate user runs it.
 */
export async function install(
  options: CommonOptions & { readonly system?: boolean },
  host: GatewayHost,
): Promise<void> {
  if (options.system === true) return (await import("./system-service.ts")).installSystem(options, host);
  const home = locateHome(options.home, process.env);
  prepareHome(home);
  const { file, failure, notes } = await installService(home, host.program);
  print(options.json, { file, started: failure === undefined, notes }, () => [
    failure ?? `Running as a service (${file}).`,
    ...notes,
  ]);
  if (failure !== undefined) process.exitCode = exitCode("unavailable");
}

/** @throws GatewayError if there is no service manager, or if a gateway is already running outside it */
export async function installService(home: Home, program: string): Promise<Installation> {
  const manager = getServiceManager(process.platform);
  const { file, text, enable, disable, linger, remedy } = manager;
  const isInstalled = existsSync(file);
  if (isInstalled && !readFileSync(file, "utf8").includes(manager.homeIn(home.dir)))
    throw new GatewayError(
      "failure",
      `${file} already starts a gateway on another home, and each user can have only one service. Remove that one first with \`signalbox service remove\`.`,
    );
  if (readHomeHolder(home.dir) !== undefined) await assertNoOtherGateway(home, manager);
  const notes = unseenVariables(home);
  // The running service uses the old file.
  if (isInstalled) await firstFailure(disable);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text({ node: process.execPath, program, home: home.dir }), { mode: 0o600 });
  const failed = await firstFailure(enable);
  if (failed !== undefined) return { file, notes, failure: `${file} is written; ${failed}. ${remedy}` };
  const unlasting = linger && (await firstFailure([linger]));
  if (unlasting === undefined) return { file, notes };
  const user = userInfo().username;
  const note = `It stops when this user signs out: ${unlasting}. Ask an administrator to run \`loginctl enable-linger ${user}\`.`;
  return { file, notes: [note, ...notes] };
}

/**
 * Refuses to install the service if another gateway holds the home, because the service would fail and restart in a
 * loop.
 */
async function assertNoOtherGateway(home: Home, manager: ServiceManager): Promise<void> {
  const { running, silence } = await readState(manager);
  if (running) return;
  if (silence !== undefined && existsSync(manager.file))
    throw new GatewayError(
      "unavailable",
      `A gateway is running on ${home.dir}; whether it is the service ${silence}`,
    );
  throw new GatewayError(
    "held",
    `A gateway that is not a service is running on ${home.dir}. Stop it, then run ${formatCommand(home, "service install")}.`,
  );
}

/** Returns notes about variables of this shell that a service does not have. */
function unseenVariables(home: Home): string[] {
  const { models, gateway } = configOrExit(() => readConfig(home, process.env)).config;
  const ofToken =
    gateway.auth.token === undefined && process.env["SIGNALBOX_TOKEN"] ? ["SIGNALBOX_TOKEN"] : [];
  const named = [...variablesNamed(home), ...ofToken];
  const lines = Object.entries(KEY_VARIABLES).flatMap(([provider, variables]) => {
    const variable = variables.find((name) => process.env[name]);
    if (variable === undefined || models.providers[provider]?.apiKey !== undefined) return [];
    const keep = formatCommand(home, `init --provider ${provider} --api-key "$${variable}"`);
    return `The service does not see ${variable} from this shell; ${keep} stores the key in a file.`;
  });
  if (named.length > 0)
    lines.push(
      `The service does not see ${named.join(", ")} from this shell. Store secrets in a file and refer to it in the configuration, as \${file:secrets/name}.`,
    );
  return lines;
}

/** Variables that a service manager sets itself. */
const USUAL_VARIABLES = new Set(["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "USER"]);

/** Returns the variables of this shell that the configuration refers to. */
function variablesNamed({ configFile: file }: Home): string[] {
  const named = new Set<string>();
  const env: Env = {};
  for (const [name, value] of Object.entries(process.env)) {
    const get = (): string | undefined => {
      if (value) named.add(name);
      return value;
    };
    Object.defineProperty(env, name, { get });
  }
  loadConfig({ file, text: configText(file), env, sources: ASSUMED_SECRETS });
  return [...named].filter((name) => !USUAL_VARIABLES.has(name));
}

/** Returns true if a service manager is available and the service is not installed yet. */
export async function canInstallService(): Promise<boolean> {
  if (process.platform !== "linux" && process.platform !== "darwin") return false;
  const { file, probe } = getServiceManager(process.platform);
  return !existsSync(file) && (await run(probe)).code === 0;
}

/** `signalbox service remove`: removes the service and keeps all files in the home. */
export async function remove(options: CommonOptions): Promise<void> {
  const manager = getServiceManager(process.platform);
  if (!existsSync(manager.file))
    throw new GatewayError("failure", `The service is not installed: ${manager.file} does not exist.`);
  const failed = await firstFailure(manager.disable);
  // Stopping a service that is not running fails, which is not an error.
  if (failed !== undefined) {
    const { running, silence } = await readState(manager);
    const state = silence === undefined ? "it keeps running" : `whether it is running ${silence}`;
    if (running !== false)
      throw new GatewayError(
        "unavailable",
        `The service was not removed: ${failed}. ${manager.file} is still there, and ${state}${silence === undefined ? `. ${manager.remedy}` : ""}`,
      );
  }
  rmSync(manager.file);
  print(options.json, { file: manager.file }, () => [`Removed ${manager.file}.`]);
}

/** `signalbox service status` */
export async function status(options: CommonOptions): Promise<void> {
  const manager = getServiceManager(process.platform);
  const { file } = manager;
  const installed = existsSync(file);
  const { running, silence } = installed ? await readState(manager) : NOT_RUNNING;
  print(options.json, { installed, running, file }, () => {
    if (!installed) return ["Not installed. Install it with `signalbox service install`."];
    if (silence !== undefined) return [`${file} is installed; whether it is running ${silence}`];
    return [`${file}: ${running ? "running" : "not running"}.`];
  });
}

/**
 * True if the service is running. Null if the service manager does not respond, in which case `remedy` contains the
 * remedy.
 */
interface ServiceState {
  readonly running: boolean | null;
  readonly silence?: string;
}

const NOT_RUNNING: ServiceState = { running: false };

async function readState({ status, isRunning, probe, remedy }: ServiceManager): Promise<ServiceState> {
  const { code, output } = await run(status);
  if (code === 0) return { running: isRunning?.(output) ?? true };
  const probed = await run(probe);
  if (probed.code === 0) return NOT_RUNNING;
  const silence = `is unknown, because the service manager does not respond here${quoted(probed.said)}. ${remedy}`;
  return { running: null, silence };
}

function getServiceManager(platform: NodeJS.Platform): ServiceManager {
  if (platform === "linux") return systemd();
  if (platform === "darwin") return launchd();
  throw new GatewayError(
    "usage",
    `Services are supported on Linux (systemd) and macOS (launchd), not on ${platform}.`,
  );
}

function systemd(): ServiceManager {
  const folder = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  const unit = `${NAME}.service`;
  const systemctl = (...parameters: string[]): Command => ["systemctl", "--user", ...parameters];
  return {
    file: join(folder, "systemd", "user", unit),
    text: systemdUnit,
    homeIn: unitHome,
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", unit)],
    linger: ["loginctl", "enable-linger"],
    disable: [systemctl("disable", "--now", unit), systemctl("daemon-reload")],
    status: systemctl("is-active", "--quiet", unit),
    probe: systemctl("show-environment"),
    remedy:
      "Sign in as this user (not with `su` or `sudo`), or set XDG_RUNTIME_DIR=/run/user/$(id -u). Without systemd, as in a container, run `signalbox start` instead.",
  };
}

function launchd(): ServiceManager {
  const file = join(homedir(), "Library", "LaunchAgents", `${LABEL}.plist`);
  return {
    file,
    text: (program) => launchdPlist(LABEL, program),
    homeIn: plistHome,
    enable: [["launchctl", "load", "-w", file]],
    disable: [["launchctl", "unload", "-w", file]],
    status: ["launchctl", "list", LABEL],
    // `launchctl list` includes services without a process.
    isRunning: (output) => /^\s*"PID" = \d+;$/m.test(output),
    probe: ["launchctl", "list"],
    remedy: "Run this in a session of this user on the Mac itself.",
  };
}
