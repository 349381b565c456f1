import { reasonOf } from "@signalbox/agent-core";
import {
  type ChannelCache,
  type ChannelDefinition,
  type ChannelLogger,
  systemClock,
} from "@signalbox/channel";
import {
  type Account,
  createAccounts,
  type Accounts as Host,
  importChannel,
  type PlannedAccount,
  urlInHome,
} from "@signalbox/channel/accounts";
import { inOwnProcess } from "@signalbox/channel/process";
import { accountKeys, didYouMean, type LoadedConfig, type Problem } from "@signalbox/config";
import type { ChannelStatus } from "@signalbox/protocol";
import type { Vault } from "@signalbox/redaction";
import { type HostPackages, importsFrom, installCommand, type PackagePlaces } from "./host-packages.ts";

export type { Account };

type Checked = Awaited<ReturnType<ChannelDefinition["config"]["~standard"]["validate"]>>;
type Issue = NonNullable<Extract<Checked, { readonly issues: unknown }>["issues"]>[number];

/** The accounts the configuration names with those of the gateway's own, and what keeps the wrong ones from running. */
export interface Accounts extends Pick<Host, "change" | "get" | "start" | "stop"> {
  readonly definition: Host["definition"];
  readonly problems: readonly Problem[];
  /** The channels that there are: those built in, and those that packages of the configuration brought. */
  readonly definitions: readonly ChannelDefinition[];
  /** Those that the configuration names and that can run. */
  readonly planned: readonly PlannedAccount[];
  /** The accounts that the configuration names. */
  list(): readonly ChannelStatus[];
}

export interface AccountsOptions extends PackagePlaces {
  readonly loaded: LoadedConfig;
  /** Channels that need no package of their own. */
  readonly definitions: readonly ChannelDefinition[];
  /** The packages that those of them are from which can run in a process of their own, by the channel's id. */
  readonly channelPackages: Readonly<Record<string, string>>;
  /** The channels of the gateway's own clients, which no configuration names. */
  readonly own: readonly ChannelDefinition[];
  /** The log of an account. */
  readonly logger: (account: string) => ChannelLogger;
  readonly packages: HostPackages;
  readonly cache: ChannelCache;
  /** Told of the values that a channel calls secret. */
  readonly vault: Pick<Vault, "add">;
}

/** The account's name of the channels that the gateway brings itself. */
export const OWN_ACCOUNT = "main";

/** Checks each account's settings by its channel's own schema. */
export async function resolveAccounts(options: AccountsOptions): Promise<Accounts> {
  const { loaded, own, cache, logger } = options;
  const channels: PlannedChannel[] = [];
  for (const [channel, config] of Object.entries(loaded.config.channels))
    if (config.enabled) channels.push(await planChannel(channel, config, options));
  const planned = channels.flatMap(({ accounts }) => accounts);
  const brought = channels.flatMap((channel) => channel.brought ?? []);
  const problems = [...channels.flatMap((channel) => channel.problems), ...sameCredentials(loaded, planned)];
  const host = createAccounts({ logger, cache, clock: systemClock });
  for (const account of planned) host.add(account);
  for (const definition of own) host.add({ definition, account: OWN_ACCOUNT, config: {} });
  const isOwn = (channel: string): boolean => own.some(({ id }) => id === channel);
  return {
    start: (services, chosen) => host.start(services, chosen),
    change: (changes, drainMs) => host.change(changes, drainMs),
    stop: (drainMs) => host.stop(drainMs),
    get: (channel, account) => host.get(channel, account),
    definition: (channel, account) => host.definition(channel, account),
    problems,
    planned,
    definitions: [...options.definitions, ...brought],
    list: () => host.health().filter(({ channel }) => !isOwn(channel)),
  };
}

/** What a channel of the configuration comes to. */
interface PlannedChannel {
  readonly problems: readonly Problem[];
  /** Where it did not come with the gateway. */
  readonly brought?: ChannelDefinition;
  readonly accounts: readonly PlannedAccount[];
}

async function planChannel(
  channel: string,
  config: LoadedConfig["config"]["channels"][string],
  options: AccountsOptions,
): Promise<PlannedChannel> {
  const { loaded, definitions, packages, vault } = options;
  const { package: packageName } = config;
  const definition = await definitionOf(channel, packageName, options);
  if (typeof definition === "string")
    return { problems: [noChannel(loaded, channel, definition, definitions)], accounts: [] };
  const isBuiltIn = definitions.includes(definition);
  const problems = isBuiltIn ? packageProblems(loaded, definition, packages) : [];
  if (isBuiltIn && packageName !== undefined) problems.unshift(needlessPackage(loaded, channel));
  const accounts: PlannedAccount[] = [];
  const plan = { problems, accounts, ...(isBuiltIn ? {} : { brought: definition }) };
  const run = config.process ? await separately(definition, packageName, options) : definition;
  if (run === undefined) {
    problems.push(notSeparately(loaded, channel));
    return plan;
  }
  for (const [account, raw] of Object.entries(config.accounts)) {
    vault.add(secretFields(definition, raw));
    problems.push(...unknownSettings(loaded, definition, account, raw));
    const result = await checked(definition, raw);
    if (result.issues) problems.push(...settingProblems(loaded, channel, account, result.issues));
    else if (!lacksSetting(loaded, channel, account))
      accounts.push({ definition: run, account, config: result.value });
  }
  return plan;
}

/** A schema of somebody else's that fails where it should complain keeps nothing else from running. */
async function checked({ config }: ChannelDefinition, raw: unknown): Promise<Checked> {
  try {
    return await config["~standard"].validate(raw);
  } catch (error) {
    return { issues: [{ message: `the channel failed at them: ${reasonOf(error)}` }] };
  }
}

function noChannel(
  loaded: LoadedConfig,
  channel: string,
  message: string,
  definitions: readonly ChannelDefinition[],
): Problem {
  const ids = definitions.map(({ id }) => id);
  return loaded.problem(["channels", channel], {
    severity: "error",
    message,
    remedy: `${didYouMean(channel, ids)}Use one of ${ids.join(", ")}, or install a channel package and name it in channels.${channel}.package.`,
    disables: `channel ${channel}`,
  });
}

/** The same object for the same channel each time: an account whose definition is another one is started anew. */
const separated = new WeakMap<ChannelDefinition, ChannelDefinition>();

/** A channel whose accounts have a process each; undefined where it is in no package. */
async function separately(
  definition: ChannelDefinition,
  packageName: string | undefined,
  { definitions, channelPackages, home, packages }: AccountsOptions,
): Promise<ChannelDefinition | undefined> {
  const before = separated.get(definition);
  if (before !== undefined) return before;
  const isBuiltIn = definitions.includes(definition);
  const name = isBuiltIn ? channelPackages[definition.id] : packageName;
  if (name === undefined) return undefined;
  const own = isBuiltIn ? undefined : await urlInHome(name, home.dir);
  const run = inOwnProcess(definition, own ?? packages.urlOf(name));
  separated.set(definition, run);
  return run;
}

function notSeparately(loaded: LoadedConfig, channel: string): Problem {
  return loaded.problem(["channels", channel, "process"], {
    severity: "error",
    message: "is not possible: the channel is part of the program that the gateway runs in",
    remedy: "Remove process, or put the channel into a package.",
    disables: `channel ${channel}`,
  });
}

/** The gateway's own channel of a name runs, whatever package the configuration has for it. */
function needlessPackage(loaded: LoadedConfig, channel: string): Problem {
  return loaded.problem(["channels", channel, "package"], {
    severity: "warning",
    message: `is ignored: ${channel} comes with the gateway`,
    remedy: "Remove package, or give the channel of the package a name of its own.",
  });
}

/** A channel that came with the gateway, and whose platform's SDK is not installed. */
function packageProblems(
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

/** Whether a setting could not be had: without it, an account may take what anybody sends. */
function lacksSetting({ problems }: LoadedConfig, channel: string, account: string): boolean {
  const place = `channels.${channel}.accounts.${account}.`;
  return problems.some(({ severity, path }) => severity === "error" && path.startsWith(place));
}

/** What is wrong with the settings of an account, in the words of its channel. */
function settingProblems(
  loaded: LoadedConfig,
  channel: string,
  account: string,
  issues: readonly Issue[],
): Problem[] {
  return issues.map(({ message, path = [] }) => {
    const steps = path.map((step) => (typeof step === "object" ? step.key : step));
    const named = steps.filter((step) => typeof step !== "symbol");
    return loaded.problem(["channels", channel, "accounts", account, ...named], {
      severity: "error",
      message: message.replace(/\.$/, ""),
      remedy: "Set it as the platform's console shows it.",
      disables: `channel account ${channel}/${account}`,
    });
  });
}

/** Settings that a channel does not know: most often another one, misspelt. */
function unknownSettings(
  loaded: LoadedConfig,
  definition: ChannelDefinition,
  account: string,
  raw: Readonly<Record<string, unknown>>,
): Problem[] {
  const keys = accountKeys(definition);
  if (keys === undefined) return [];
  return Object.keys(raw)
    .filter((key) => !keys.includes(key))
    .map((key) =>
      loaded.problem(["channels", definition.id, "accounts", account, key], {
        severity: "warning",
        message: "unknown key, ignored",
        remedy: `${didYouMean(key, keys)}The keys here are ${keys.join(", ")}.`,
      }),
    );
}

/** Two accounts with the same credentials are one on the platform, which gives each message to either. */
function sameCredentials(loaded: LoadedConfig, planned: readonly PlannedAccount[]): Problem[] {
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
      message: `has the credentials of the account ${earlier.account}: the platform gives each message to one of the two`,
      remedy: "Give each account an app or bot of its own.",
    });
  });
}

/** The texts of the fields that a channel calls secret, also where something is wrong with them. */
function secretFields({ meta }: ChannelDefinition, raw: Readonly<Record<string, unknown>>): string[] {
  const fields = Object.entries(meta.fields).filter(([, { secret }]) => secret === true);
  return fields.flatMap(([name]) => textsIn(raw[name]));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

/** The channel of a name; a text says why there is none. */
async function definitionOf(
  id: string,
  packageName: string | undefined,
  options: AccountsOptions,
): Promise<ChannelDefinition | string> {
  const { definitions, own } = options;
  // Messages of another channel by this name would be taken for those of the gateway's own clients.
  if (own.some((definition) => definition.id === id))
    return `${id} is the name of a channel of the gateway's own`;
  const given = definitions.find((definition) => definition.id === id);
  if (given !== undefined) return given;
  if (packageName === undefined) return "there is no such channel";
  const brought = await importChannel(packageName, id, importsFrom(options));
  // Only the gateway itself checks its token.
  return typeof brought !== "string" && brought.capabilities.authenticatedByGateway === true
    ? `the package ${packageName} says that its senders hold the gateway's token, which only the gateway's own may`
    : brought;
}

/** Any logger that takes fields before the message. */
type FieldsFirst = Readonly<Record<keyof ChannelLogger, (fields: object, message: string) => void>>;

/** Over a logger whose level may change. No account writes in the name of another. */
export function accountLogger(log: FieldsFirst, account: string): ChannelLogger {
  return {
    debug: (message, fields) => log.debug({ ...fields, account }, message),
    info: (message, fields) => log.info({ ...fields, account }, message),
    warn: (message, fields) => log.warn({ ...fields, account }, message),
    error: (message, fields) => log.error({ ...fields, account }, message),
  };
}
