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
  resolveInHome,
} from "@signalbox/channel/accounts";
import { inOwnProcess } from "@signalbox/channel-process";
import type { LoadedConfig, Problem } from "@signalbox/config";
import type { ChannelStatus } from "@signalbox/protocol";
import type { Vault } from "@signalbox/redaction";
import {
  type Checked,
  needlessPackage,
  noChannel,
  notSeparately,
  packageProblems,
  sameCredentials,
  settingProblems,
  unknownSettings,
} from "./account-problems.ts";
import { secretFields } from "./account-secrets.ts";
import { type HostPackages, importsFrom, type PackagePlaces } from "./host-packages.ts";

export type { Account };

/** All accounts, configured and built-in, and the problems that prevent some of them from running. */
export interface Accounts extends Pick<Host, "change" | "get" | "start" | "stop" | "unableToSend"> {
  readonly definition: Host["definition"];
  readonly problems: readonly Problem[];
  /** All available channels: the built-in channels and the channels from configured packages. */
  readonly definitions: readonly ChannelDefinition[];
  /** Configured accounts that can run. */
  readonly planned: readonly PlannedAccount[];
  /** Lists the accounts in the configuration. */
  list(): readonly ChannelStatus[];
}

export interface AccountsOptions extends PackagePlaces {
  readonly loaded: LoadedConfig;
  /** Built-in channels. */
  readonly definitions: readonly ChannelDefinition[];
  /** Packages of the built-in channels that can run in their own process, by channel id. */
  readonly channelPackages: Readonly<Record<string, string>>;
  /** Channels of the gateway's own clients, which do not appear in the configuration. */
  readonly own: readonly ChannelDefinition[];
  /** Returns the logger of an account. */
  readonly logger: (account: string) => ChannelLogger;
  readonly packages: HostPackages;
  readonly cache: ChannelCache;
  /** Stores the values that channels declare as secret. */
  readonly vault: Vault;
}

/** Account name of the gateway's own channels. */
export const OWN_ACCOUNT = "main";

/** Validates each account's settings with the schema of its channel. */
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
    unableToSend: () => host.unableToSend(),
    problems,
    planned,
    definitions: [...options.definitions, ...brought],
    list: () => host.health().filter(({ channel }) => !isOwn(channel)),
  };
}

/** A configured channel after resolution. */
interface PlannedChannel {
  readonly problems: readonly Problem[];
  /** Definition that the host program passed in, for a channel that is not built in. */
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
  const definition = await findDefinition(channel, packageName, options);
  if (typeof definition === "string")
    return { problems: [noChannel(loaded, channel, definition, definitions)], accounts: [] };
  const isBuiltIn = definitions.includes(definition);
  const problems = isBuiltIn ? packageProblems(loaded, definition, packages) : [];
  if (isBuiltIn && packageName !== undefined) problems.unshift(needlessPackage(loaded, channel));
  const accounts: PlannedAccount[] = [];
  const plan = { problems, accounts, brought: isBuiltIn ? undefined : definition };
  const run = config.process ? await separately(definition, packageName, options) : definition;
  if (run === undefined) {
    problems.push(notSeparately(loaded, channel));
    return plan;
  }
  for (const [account, raw] of Object.entries(config.accounts)) {
    vault.add(secretFields(definition, raw));
    problems.push(...unknownSettings(loaded, definition, account, raw));
    const result = await checked(definition, raw);
    if (result.issues) problems.push(...settingProblems(loaded, channel, account, result.issues, raw));
    else if (!lacksSetting(loaded, channel, account))
      accounts.push({ definition: run, account, config: result.value });
  }
  return plan;
}

/** Validates settings. If a third-party schema throws, other accounts still run. */
async function checked({ config }: ChannelDefinition, raw: unknown): Promise<Checked> {
  try {
    return await config["~standard"].validate(raw);
  } catch (error) {
    return { issues: [{ message: `the channel could not check them: ${reasonOf(error)}` }] };
  }
}

/** Caches wrapped definitions, because an account restarts if its definition is a different object. */
const separated = new WeakMap<ChannelDefinition, ChannelDefinition>();

/**
 * Returns a channel that runs each account in its own process. Returns undefined if no package provides the channel.
 */
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
  const own = isBuiltIn ? undefined : await resolveInHome(name, home.dir);
  const run = inOwnProcess(definition, own ?? packages.urlOf(name));
  separated.set(definition, run);
  return run;
}

/**
 * Returns true if a setting could not be resolved. Without this setting, an account might accept messages from anyone.
 */
function lacksSetting({ problems }: LoadedConfig, channel: string, account: string): boolean {
  const place = `channels.${channel}.accounts.${account}.`;
  return problems.some(({ severity, path }) => severity === "error" && path.startsWith(place));
}

/** Finds a channel's definition. If it cannot be loaded, returns the reason as a string. */
async function findDefinition(
  id: string,
  packageName: string | undefined,
  options: AccountsOptions,
): Promise<ChannelDefinition | string> {
  const { definitions, own } = options;
  // A channel with this id could make its messages look like those of the gateway's own clients.
  if (own.some((definition) => definition.id === id))
    return `${id} is already the name of a built-in channel`;
  const given = definitions.find((definition) => definition.id === id);
  if (given !== undefined) return given;
  if (packageName === undefined) return "there is no such channel";
  const brought = await importChannel(packageName, id, importsFrom(options));
  // Only the gateway itself may check its token.
  return typeof brought !== "string" && brought.capabilities.authenticatedByGateway === true
    ? `the package ${packageName} claims that its senders hold the gateway's token, which only built-in channels may do`
    : brought;
}
