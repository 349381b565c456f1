import { type AccountCheck, isChannelError, reasonOf, textAt } from "@signalbox/channel";
import type { SignalConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { findSelf } from "./people.ts";
import { type SignalCli, toPayload } from "./rpc.ts";

/** Checks the daemon's version, whether it has the account, and whether others can reach it. */
export async function checkDaemon(
  cli: SignalCli,
  config: SignalConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const call = { what: "requesting the version", write: false, signal };
  const version = textAt(toPayload(await cli.call("version", {}, call)), "version") ?? "unknown";
  return [checkVersion(version), await checkAccount(cli, config, signal), ...checkAddress(config)];
}

/** Signal can change its protocol after three months, and signal-cli does not report the date of its release. */
function checkVersion(version: string): AccountCheck {
  const detail = `signal-cli ${version}`;
  if (compareVersions(version, limits.oldestVersion) >= 0) return { about: "signal-cli", ok: true, detail };
  return {
    about: "signal-cli",
    ok: false,
    detail: `${detail} is older than ${limits.oldestVersion}`,
    remedy: "Update signal-cli. Versions that are older than three months may stop working with Signal.",
  };
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

async function checkAccount(
  cli: SignalCli,
  { account }: SignalConfig,
  signal: AbortSignal,
): Promise<AccountCheck> {
  try {
    const { uuid } = await findSelf(cli, account, signal);
    if (uuid !== undefined)
      return { about: "account", ok: true, detail: `signal-cli has the account ${account}` };
  } catch (error) {
    if (!isChannelError(error) || error.code !== "auth")
      return { about: "account", ok: false, detail: reasonOf(error), remedy: "Start the daemon again." };
  }
  return {
    about: "account",
    ok: false,
    detail: `signal-cli has no account ${account}`,
    remedy: "Register or link the account with signal-cli, or correct `account`.",
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The daemon has no password. Everyone who can send requests to it can read and send messages. */
function checkAddress({ baseUrl }: SignalConfig): readonly AccountCheck[] {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === "https:" || LOOPBACK.test(hostname)) return [];
  return [
    {
      about: "address",
      ok: false,
      detail: "the daemon is reached over a network without encryption, and it asks for no password",
      remedy:
        "Run signal-cli on the same machine, or in a private container network that nobody else can reach.",
    },
  ];
}
