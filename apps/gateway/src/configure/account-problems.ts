import type { ChannelDefinition } from "@signalbox/channel";
import type { PlannedAccount } from "@signalbox/channel/accounts";
import { didYouMean, getAccountKeys, type LoadedConfig, type Problem } from "@signalbox/config";
import { secretFields } from "./account-secrets.ts";
import { type HostPackages, installCommand } from "./host-packages.ts";

/** Result of validating an account's settings against its channel's schema. */
export type Checked = Awaited<ReturnType<ChannelDefinition["config"]["~standard"]["validate"]>>;
type Issue = NonNullable<Extract<Checked, { readonly issues: unknown }>["issues"]>[number];

export function noChannel(
  loaded: LoadedConfig,
  channel: string,
  message: string,
  definitions: readonly ChannelDefinition[],
): Problem {
  const ids = definitions.map(({ id }) => id);
  return loaded.problem(["channels", channel], {
    severity: "error",
    message,
    remedy: `${didYouMean(channel, ids)}Use one of ${ids.join(", ")}, or install a channel package and set channels.${channel}.package to its name.`,
    disables: `channel ${channel}`,
  });
}

export function notSeparately(loaded: LoadedConfig, channel: string): Problem {
  return loaded.problem(["channels", channel, "process"], {
    severity: "error",
    message: "is not possible: this channel is built into the gateway",
    remedy: "Remove `process`, or move the channel into a package.",
    disables: `channel ${channel}`,
  });
}

/** Warns that a configured package is ignored because a built-in channel has the same name. */
export function needlessPackage(loaded: LoadedConfig, channel: string): Problem {
  return loaded.problem(["channels", channel, "package"], {
    severity: "warning",
    message: `${channel} comes with the gateway`,
    ignored: true,
    remedy: "Remove `package`, or give the package's channel another name.",
  });
}

/** Reports a built-in channel whose platform SDK is not installed. */
export function packageProblems(
  loaded: LoadedConfig,
  { id, meta }: ChannelDefinition,
  packages: HostPackages,
): Problem[] {
  const missing = packages.missing(meta.requires ?? []);
  if (missing.length === 0) return [];
  return [
    loaded.problem(["channels", id], {
      severity: "error",
      message: `needs ${missing.join(" and ")}, not installed`,
      remedy: installCommand(missing),
      disables: `channel ${id}`,
    }),
  ];
}

/** Problems in an account's settings, as its channel's schema reports them. */
export function settingProblems(
  loaded: LoadedConfig,
  channel: string,
  account: string,
  issues: readonly Issue[],
  raw: Readonly<Record<string, unknown>>,
): Problem[] {
  return issues.map(({ message, path = [] }) => {
    const steps = path.map((step) => (typeof step === "object" ? step.key : step));
    const named = steps.filter((step) => typeof step !== "symbol");
    const kind = getWrongKind(raw[String(named[0])], message);
    return loaded.problem(["channels", channel, "accounts", account, ...named], {
      severity: "error",
      message: kind === undefined ? message.replace(/\.$/, "") : `must be text, but is a ${kind}`,
      remedy: kind === undefined ? "Correct this setting." : "Write it in quotes.",
      disables: `channel account ${channel}/${account}`,
    });
  });
}

/**
 * Returns the type of a value that a channel calls missing because it is no text. YAML reads `7` as a number and `yes`
 * as text, but `true` as a boolean.
 */
function getWrongKind(value: unknown, message: string): string | undefined {
  const kind = typeof value;
  return (kind === "number" || kind === "boolean") && message.includes("is missing") ? kind : undefined;
}

/** Reports settings that the channel does not define. Most of them are misspelled. */
export function unknownSettings(
  loaded: LoadedConfig,
  definition: ChannelDefinition,
  account: string,
  raw: Readonly<Record<string, unknown>>,
): Problem[] {
  const keys = getAccountKeys(definition);
  if (keys === undefined) return [];
  return Object.keys(raw)
    .filter((key) => !keys.includes(key))
    .map((key) =>
      loaded.problem(["channels", definition.id, "accounts", account, key], {
        severity: "warning",
        message: "unknown key",
        ignored: true,
        remedy: `${didYouMean(key, keys)}Valid keys are ${keys.join(", ")}.`,
      }),
    );
}

/**
 * Warns about accounts with the same credentials. The platform treats them as one account and delivers each message to
 * only one of them.
 */
export function sameCredentials(loaded: LoadedConfig, planned: readonly PlannedAccount[]): Problem[] {
  const secretsOf = ({ definition, account }: PlannedAccount): string =>
    secretFields(definition, loaded.config.channels[definition.id]?.accounts[account] ?? {}).join("\n");
  return planned.flatMap((one, at) => {
    const secrets = secretsOf(one);
    const earlier = planned
      .slice(0, at)
      .find((other) => other.definition === one.definition && secrets !== "" && secretsOf(other) === secrets);
    if (earlier === undefined) return [];
    return loaded.problem(["channels", one.definition.id, "accounts", one.account], {
      severity: "warning",
      message: `has the same credentials as the account ${earlier.account}: the platform sends each message to only one of the two`,
      remedy: "Give each account its own app or bot.",
    });
  });
}
