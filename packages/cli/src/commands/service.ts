import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { GatewayError, locateHome, prepareHome } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
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
  /** What to do where it does not answer. */
  readonly remedy: string;
}

type Command = readonly [program: string, ...parameters: string[]];

const NAME = "signalbox";
const LABEL = "dev.signalbox.gateway";

/** `signalbox service install`: starts the gateway with the machine, and again where it fails. */
export async function install(options: CommonOptions, host: GatewayHost): Promise<void> {
  const manager = managerOf(process.platform);
  const home = locateHome(options.home, process.env);
  prepareHome(home);
  mkdirSync(dirname(manager.file), { recursive: true });
  const { program } = host;
  writeFileSync(manager.file, manager.text({ node: process.execPath, program, home: home.dir }), {
    mode: 0o600,
  });
  const failed = await firstFailure(manager.enable);
  print(options.json, { file: manager.file, started: failed === undefined }, () => [
    failed === undefined
      ? `Runs as a service (${manager.file}).`
      : `${manager.file} is written; \`${failed.command.join(" ")}\` did not work${quoted(failed.said)}. ${manager.remedy}`,
  ]);
  if (failed !== undefined) process.exitCode = exitCode("unavailable");
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
  const folder = process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
  const unit = `${NAME}.service`;
  const systemctl = (...parameters: string[]): Command => ["systemctl", "--user", ...parameters];
  return {
    file: join(folder, "systemd", "user", unit),
    text: systemdUnit,
    // Without a lingering user the service ends with the last session.
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", unit), ["loginctl", "enable-linger"]],
    disable: [systemctl("disable", "--now", unit), systemctl("daemon-reload")],
    status: systemctl("is-active", "--quiet", unit),
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
