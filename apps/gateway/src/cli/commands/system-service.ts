import { existsSync, writeFileSync } from "node:fs";
import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { type Command, firstFailure, run } from "../run-command.ts";
import { systemdUnit } from "./service-files.ts";

/** The user that runs the gateway. It has no password and no shell. */
const USER = "signalbox";
const HOME = "/var/lib/signalbox";
const UNIT = "signalbox.service";
const FILE = `/etc/systemd/system/${UNIT}`;

/** Parts of the machine that tests replace. */
export interface SystemServiceOptions {
  readonly platform: NodeJS.Platform;
  readonly isRoot: boolean;
  /** Path of the unit. */
  readonly file: string;
}

const MACHINE: SystemServiceOptions = {
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  file: FILE,
};

/**
 * `signalbox service install --system`: creates the user `signalbox` with the home `/var/lib/signalbox`, and a systemd
 * unit of the system that runs the gateway as this user.
 *
 * @throws GatewayError if the caller is not root, or if the user cannot run the program
 */
export async function installSystem(
  { home = HOME, json }: CommonOptions,
  { program }: GatewayHost,
  { platform, isRoot, file }: SystemServiceOptions = MACHINE,
): Promise<void> {
  if (platform !== "linux") throw new GatewayError("usage", "--system needs Linux with systemd.");
  if (!isRoot)
    throw new GatewayError("usage", "--system creates a user and a unit of the system. Run it as root.");
  if ((await run(["id", "-u", USER])).code !== 0)
    await demand([
      "useradd",
      "--system",
      "--user-group",
      "--home-dir",
      home,
      "--shell",
      "/usr/sbin/nologin",
      USER,
    ]);
  await demand(["install", "--directory", "--mode=0700", `--owner=${USER}`, `--group=${USER}`, home]);
  const node = process.execPath;
  const unreadable = await firstFailure([["runuser", "-u", USER, "--", node, program, "--version"]]);
  if (unreadable !== undefined)
    throw new GatewayError(
      "failure",
      `The user ${USER} cannot run ${program} with ${node}: ${unreadable}. Install Node.js and the gateway where every user can read them, such as /opt/signalbox.`,
    );
  const isUpdate = existsSync(file);
  writeFileSync(file, systemdUnit({ node, program, home }, USER), { mode: 0o644 });
  await demand(["systemctl", "daemon-reload"]);
  await demand(["systemctl", "enable", "--now", UNIT]);
  if (isUpdate) await demand(["systemctl", "restart", UNIT]);
  const asUser = `sudo -u ${USER} signalbox <command> --home ${home}`;
  print(json, { file, user: USER, home, started: true }, () => [
    `Running as a service of the system (${file}), as the user ${USER} with the home ${home}.`,
    `Run commands as this user: ${asUser}`,
    `To remove it: systemctl disable --now ${UNIT}, then delete ${file}. The home and the user stay.`,
  ]);
}

async function demand(command: Command): Promise<void> {
  const failed = await firstFailure([command]);
  if (failed !== undefined)
    throw new GatewayError("unavailable", `The service was not installed: ${failed}.`);
}
