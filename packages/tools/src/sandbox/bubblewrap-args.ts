import { getSystemFolderArgs, statIfExists } from "./mounts.ts";
import type { EgressProxy } from "./network/proxy.ts";
import { getBridgeFile, PROXY_PORT } from "./network/variables.ts";

/** Settings that common programs read. None of them contain secrets or user accounts. */
const SYSTEM_SETTINGS = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/fonts",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/magic",
  "/etc/mime.types",
  "/etc/pki/tls/certs",
  "/etc/ssl/certs",
];
const USER_ID = 1_000;
const PASSWD = `agent:x:${USER_ID}:${USER_ID}::/tmp:/bin/sh\n`;
const GROUP = `agent:x:${USER_ID}:\n`;

/** Returns the contents of `/etc/passwd` and `/etc/group` in the sandbox. */
export function createUserFiles(): readonly string[] {
  return [PASSWD, GROUP];
}

/** Descriptors from which the launcher reads its arguments and files. */
export const ARGUMENTS = "3";
export const PASSWD_FILE = "4";
export const GROUP_FILE = "5";
export const FILTER = "6";

/**
 * Formats arguments for `--args`. An argument that contains a NUL would be split, and the second half could be any
 * option.
 */
export function formatArguments(args: readonly string[]): string {
  if (args.some((arg) => arg.includes("\0")))
    throw new Error("A command and its folders must not contain a NUL character.");
  return args.join("\0");
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** Wraps a command with a bridge to the proxy, which listens on the loopback address of the sandbox. */
export function addBridge(
  { socket }: EgressProxy,
  inner: Command,
): { mounts: readonly string[]; command: Command } {
  const inside = {
    node: "/run/signalbox/node",
    bridge: "/run/signalbox/bridge.mjs",
    socket: "/run/signalbox/proxy",
  };
  const mounts = [
    ...["--ro-bind", process.execPath, inside.node],
    ...["--ro-bind", getBridgeFile(), inside.bridge],
    ...["--bind", socket, inside.socket],
  ];
  const args = [inside.bridge, inside.socket, String(PROXY_PORT), inner.file, ...inner.args];
  return { mounts, command: { file: inside.node, args } };
}

export const ISOLATION: readonly string[] = [
  "--unshare-all",
  "--unshare-user",
  "--disable-userns",
  ...["--uid", String(USER_ID), "--gid", String(USER_ID)],
  ...["--hostname", "sandbox"],
  ...["--cap-drop", "ALL"],
  "--die-with-parent",
  "--new-session",
];

/**
 * Returns the arguments that are the same for every command. Missing settings are omitted here, because otherwise
 * bubblewrap would look for them each time.
 */
export function getSystemArgs(): readonly string[] {
  const args = ["--proc", "/proc", "--dev", "/dev", ...getSystemFolderArgs()];
  for (const path of SYSTEM_SETTINGS)
    if (statIfExists(path) !== undefined) args.push("--ro-bind-try", path, path);
  return args;
}
