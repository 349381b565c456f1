import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
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
import { commandOn } from "../command-on.ts";
import type { CommonOptions } from "../common-options.ts";
import { configOrExit } from "../configured-home.ts";
import { exitCode } from "../exit-codes.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { launchdPlist, type ServiceProgram, systemdUnit } from "./service-files.ts";

/** How a system keeps programs running for a person who need not be signed in. */
interface ServiceManager {
  readonly file: string;
  text(program: ServiceProgram): string;
  /** Commands, in order. */
  readonly enable: readonly Command[];
  readonly disable: readonly Command[];
  readonly status: Command;
  /** Succeeds where it answers. */
  readonly probe: Command;
  /** What to do where it does not answer. */
  readonly remedy: string;
}

type Command = readonly [program: string, ...parameters: string[]];

const NAME = "signalbox";
const LABEL = "dev.signalbox.gateway";

/** What became of installing it. */
export interface Installation {
  readonly file: string;
  /** Why it does not run, and what to do. */
  readonly failure?: string;
  /** Variables that only this shell has, and what to do. */
  readonly unseen?: string;
}

/** `signalbox service install`: starts the gateway with the machine, and again where it fails. */
export async function install(options: CommonOptions, host: GatewayHost): Promise<void> {
  const home = locateHome(options.home, process.env);
  prepareHome(home);
  const { file, failure, unseen } = await installService(home, host.program);
  print(options.json, { file, started: failure === undefined }, () => [
    failure ?? `Runs as a service (${file}).`,
    ...(unseen === undefined ? [] : [unseen]),
  ]);
  if (failure !== undefined) process.exitCode = exitCode("unavailable");
}

/** @throws GatewayError where there are no services, or a gateway that is none runs already */
export async function installService(home: Home, program: string): Promise<Installation> {
  const { file, text, enable, disable, status, remedy } = managerOf(process.platform);
  const isHeld = readHomeHolder(home.dir) !== undefined;
  const isInstalled = existsSync(file);
  const isRunning = (isHeld || isInstalled) && (await run(status)).code === 0;
  // The service could not take the home, and would be tried again and again.
  if (isHeld && !isRunning)
    throw new GatewayError(
      "held",
      `A gateway that is no service runs on ${home.dir}: stop it, then ${commandOn(home, "service install")}.`,
    );
  const unseen = unseenVariables(home);
  // What runs was started as the file was before.
  if (isInstalled && isRunning) await firstFailure(disable);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text({ node: process.execPath, program, home: home.dir }), { mode: 0o600 });
  const failed = await firstFailure(enable);
  if (failed === undefined) return { file, ...unseen };
  return {
    file,
    failure: `${file} is written; \`${failed.command.join(" ")}\` did not work${quoted(failed.said)}. ${remedy}`,
  };
}

/** A service has not the variables of the shell that installs it. */
function unseenVariables(home: Home): { readonly unseen?: string } {
  const { models, gateway } = configOrExit(() => readConfig(home, process.env)).config;
  const ofToken =
    gateway.auth.token === undefined && process.env["SIGNALBOX_TOKEN"] ? ["SIGNALBOX_TOKEN"] : [];
  const named = [...variablesNamed(home), ...ofToken];
  const lines = Object.entries(KEY_VARIABLES).flatMap(([provider, variables]) => {
    const variable = variables.find((name) => process.env[name]);
    if (variable === undefined || models.providers[provider]?.apiKey !== undefined) return [];
    const keep = commandOn(home, `init --provider ${provider} --api-key "$${variable}"`);
    return `It does not see ${variable} of this shell; ${keep} keeps the key in a file.`;
  });
  if (named.length > 0)
    lines.push(
      `It does not see ${named.join(", ")} of this shell: keep what is secret in a file, and have the configuration name that, as \${file:secrets/name}.`,
    );
  return lines.length === 0 ? {} : { unseen: lines.join("\n") };
}

/** A service manager gives these itself. */
const USUAL_VARIABLES = new Set(["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "USER"]);

/** The variables of this shell that the configuration takes something from. */
function variablesNamed({ configFile: file }: Home): string[] {
  const named = new Set<string>();
  const env = new Proxy<Env>(process.env, {
    get(variables, name) {
      const value = variables[String(name)];
      if (value) named.add(String(name));
      return value;
    },
  });
  loadConfig({ file, text: configText(file), env, sources: ASSUMED_SECRETS });
  return [...named].filter((name) => !USUAL_VARIABLES.has(name));
}

/** Whether there is none yet, and a service manager answers here. */
export async function canInstallService(): Promise<boolean> {
  if (process.platform !== "linux" && process.platform !== "darwin") return false;
  const { file, probe } = managerOf(process.platform);
  return !existsSync(file) && (await run(probe)).code === 0;
}

/** `signalbox service remove`: what the home holds stays. */
export async function remove(options: CommonOptions): Promise<void> {
  const manager = managerOf(process.platform);
  if (!existsSync(manager.file))
    throw new GatewayError("failure", `There is no service: ${manager.file} is missing.`);
  await firstFailure(manager.disable);
  rmSync(manager.file);
  print(options.json, { file: manager.file }, () => [`Removed ${manager.file}.`]);
}

/** `signalbox service status` */
export async function status(options: CommonOptions): Promise<void> {
  const { file, status: command, remedy } = managerOf(process.platform);
  const installed = existsSync(file);
  const answer = installed ? await run(command) : undefined;
  const running = answer?.code === 0;
  // It says nothing where the service is just not running.
  const unreachable = !running && answer !== undefined && answer.said !== "" ? answer.said : undefined;
  const state = { installed, running: unreachable === undefined ? running : null, file };
  print(options.json, state, () => {
    if (!installed) return ["Not installed. `signalbox service install` does so."];
    if (unreachable === undefined) return [`${file}: ${running ? "running" : "not running"}.`];
    return [
      `${file} is installed; whether it runs cannot be told, since the service manager does not answer here${quoted(unreachable)}. ${remedy}`,
    ];
  });
}

function managerOf(platform: NodeJS.Platform): ServiceManager {
  if (platform === "linux") return systemd();
  if (platform === "darwin") return launchd();
  throw new GatewayError(
    "usage",
    `There are services for Linux (systemd) and macOS (launchd), not for ${platform}.`,
  );
}

function systemd(): ServiceManager {
  const folder = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  const unit = `${NAME}.service`;
  const systemctl = (...parameters: string[]): Command => ["systemctl", "--user", ...parameters];
  return {
    file: join(folder, "systemd", "user", unit),
    text: systemdUnit,
    // Without a lingering user the service ends with the last session.
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", unit), ["loginctl", "enable-linger"]],
    disable: [systemctl("disable", "--now", unit), systemctl("daemon-reload")],
    status: systemctl("is-active", "--quiet", unit),
    probe: systemctl("show-environment"),
    remedy:
      "Sign in as this user (not by `su` or `sudo`), or set XDG_RUNTIME_DIR=/run/user/$(id -u); where there is no systemd, as in a container, run `signalbox start` itself.",
  };
}

function launchd(): ServiceManager {
  const file = join(homedir(), "Library", "LaunchAgents", `${LABEL}.plist`);
  return {
    file,
    text: (program) => launchdPlist(LABEL, program),
    enable: [["launchctl", "load", "-w", file]],
    disable: [["launchctl", "unload", "-w", file]],
    status: ["launchctl", "list", LABEL],
    probe: ["launchctl", "list"],
    remedy: "Run it in a session of this user on the Mac itself.",
  };
}

/** How a command ended, and what it said of its failure. */
interface Answer {
  readonly code: number;
  readonly said: string;
}

async function firstFailure(
  commands: readonly Command[],
): Promise<{ readonly command: Command; readonly said: string } | undefined> {
  for (const command of commands) {
    const { code, said } = await run(command);
    if (code !== 0) return { command, said };
  }
  return undefined;
}

function run([program, ...parameters]: Command): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    child.once("error", (error) => resolve({ code: 1, said: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, said: said.trim() }));
  });
}

function quoted(said: string): string {
  return said === "" ? "" : ` ("${said}")`;
}
