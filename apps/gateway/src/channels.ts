import {
  type Channel,
  type ChannelCache,
  type ChannelCommand,
  type ChannelDefinition,
  type ChannelLogger,
  type ChannelState,
  type EmitResult,
  type InboundEvent,
  systemClock,
} from "@signalbox/channel";
import type { LoadedConfig, Problem } from "@signalbox/config";
import type { ChannelStatus } from "@signalbox/protocol";
import type { KvStore } from "@signalbox/store";
import { messageOf } from "./errors.ts";
import type { Logger } from "./log.ts";

/** One running account of a channel. */
export interface Account {
  readonly channel: string;
  readonly account: string;
  readonly definition: ChannelDefinition;
  readonly running: Channel;
}

/** What the running gateway gives its channels. */
interface ChannelHost {
  readonly emit: (event: InboundEvent) => Promise<EmitResult>;
  /** What a channel remembers for good. */
  readonly state: (channel: string) => ChannelState;
  readonly commands: readonly ChannelCommand[];
}

/** The accounts the configuration names, and what keeps the wrong ones from running. */
export interface Accounts {
  readonly problems: readonly Problem[];
  /** Adds an account of the gateway's own, which no configuration names. To be called before the start. */
  addOwn(definition: ChannelDefinition): void;
  /** Brings every account up; one that fails is reported and tried again, the others run. */
  start(host: ChannelHost): Promise<void>;
  stop(drainMs: number): Promise<void>;
  /** An account that runs. */
  get(channel: string, account: string): Account | undefined;
  /** The channel of a configured account, whether it runs just now or not. */
  definition(channel: string, account: string): ChannelDefinition | undefined;
  /** The accounts that the configuration names. */
  list(): readonly ChannelStatus[];
}

export interface AccountsOptions {
  readonly loaded: LoadedConfig;
  readonly definitions: readonly ChannelDefinition[];
  readonly logger: Logger;
  readonly cache: ChannelCache;
}

/** The account's name of the channels that the gateway brings itself. */
export const OWN_ACCOUNT = "main";

interface Planned {
  readonly channel: string;
  readonly account: string;
  readonly definition: ChannelDefinition;
  readonly config: unknown;
}

const RETRY_MS = 30_000;

/** Checks each account's settings by its channel's own schema. */
export async function planAccounts(options: AccountsOptions): Promise<Accounts> {
  const { loaded, logger } = options;
  const problems: Problem[] = [];
  const planned: Planned[] = [];
  for (const [channel, { enabled, accounts, package: packageName }] of Object.entries(
    loaded.config.channels,
  )) {
    if (!enabled) continue;
    const definition =
      options.definitions.find((one) => one.id === channel) ?? (await importDefinition(packageName, channel));
    if (typeof definition === "string" || definition === undefined) {
      const known = options.definitions.map((one) => one.id).join(", ");
      problems.push(
        loaded.problem(["channels", channel], {
          severity: "error",
          message: definition ?? "there is no such channel",
          remedy: `Use one of ${known}, or install a channel package and name it in channels.${channel}.package.`,
          disables: `channel ${channel}`,
        }),
      );
      continue;
    }
    for (const [account, raw] of Object.entries(accounts)) {
      const path = ["channels", channel, "accounts", account];
      const result = await definition.config["~standard"].validate(raw);
      if (!result.issues) {
        planned.push({ channel, account, definition, config: result.value });
        continue;
      }
      for (const issue of result.issues) {
        const steps = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
        problems.push(
          loaded.problem([...path, ...steps.filter((step) => typeof step !== "symbol")], {
            severity: "error",
            message: issue.message.replace(/\.$/, ""),
            remedy: "Set it as the platform's console shows it.",
            disables: `channel account ${channel}/${account}`,
          }),
        );
      }
    }
  }
  return runAccounts(planned, problems, options.cache, logger);
}

function runAccounts(
  configured: readonly Planned[],
  problems: readonly Problem[],
  cache: ChannelCache,
  logger: Logger,
): Accounts {
  const own: Planned[] = [];
  const planned = (): readonly Planned[] => [...own, ...configured];
  const running = new Map<string, Account>();
  const failures = new Map<string, string>();
  const ending = new AbortController();
  const keyOf = (channel: string, account: string): string => `${channel}/${account}`;

  const bringUp = async (plan: Planned, host: ChannelHost): Promise<void> => {
    const key = keyOf(plan.channel, plan.account);
    try {
      const channel = await plan.definition.create({
        config: plan.config,
        account: plan.account,
        logger: channelLogger(logger, key),
        emit: host.emit,
        fetch,
        clock: systemClock,
        cache: prefixed(cache, key),
        state: host.state(plan.channel),
        commands: host.commands,
        signal: ending.signal,
      });
      // Known before it listens: what it receives while it starts may be answered.
      running.set(key, {
        channel: plan.channel,
        account: plan.account,
        definition: plan.definition,
        running: channel,
      });
      await channel.start(ending.signal);
      failures.delete(key);
    } catch (error) {
      if (ending.signal.aborted) return;
      running.delete(key);
      failures.set(key, messageOf(error));
      logger.error(
        { account: key, err: messageOf(error), retryInMs: RETRY_MS },
        "channel account did not start",
      );
      const timer = setTimeout(() => void bringUp(plan, host), RETRY_MS);
      timer.unref();
      ending.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    }
  };

  return {
    problems,
    addOwn(definition) {
      own.push({ channel: definition.id, account: OWN_ACCOUNT, definition, config: {} });
    },
    async start(host) {
      await Promise.all(planned().map((plan) => bringUp(plan, host)));
    },
    async stop(drainMs) {
      await Promise.allSettled([...running.values()].map((one) => one.running.stop({ drainMs })));
      ending.abort(new Error("the gateway is stopping"));
    },
    get: (channel, account) => running.get(keyOf(channel, account)),
    definition: (channel, account) =>
      planned().find((plan) => plan.channel === channel && plan.account === account)?.definition,
    list() {
      return configured.map(({ channel, account }) => {
        const key = keyOf(channel, account);
        const health = running.get(key)?.running.health();
        const reason = health && "reason" in health ? health.reason : failures.get(key);
        return {
          channel,
          account,
          state: health?.state ?? "down",
          ...(reason === undefined ? {} : { reason }),
        };
      });
    },
  };
}

/** The definition a package exports as `default` or `channel`; text says why there is none. */
async function importDefinition(
  packageName: string | undefined,
  id: string,
): Promise<ChannelDefinition | string | undefined> {
  if (packageName === undefined) return undefined;
  try {
    const module: Record<string, unknown> = await import(packageName);
    const found = module["default"] ?? module["channel"];
    if (!isDefinition(found)) return `the package ${packageName} exports no channel definition of version 1`;
    return found.id === id ? found : `the package ${packageName} brings the channel ${found.id}, not ${id}`;
  } catch (error) {
    return `the package ${packageName} could not be loaded: ${messageOf(error)}`;
  }
}

function isDefinition(value: unknown): value is ChannelDefinition {
  return (
    value !== null &&
    typeof value === "object" &&
    "specVersion" in value &&
    value.specVersion === 1 &&
    "id" in value &&
    typeof value.id === "string" &&
    "create" in value &&
    typeof value.create === "function"
  );
}

function channelLogger(logger: Logger, account: string): ChannelLogger {
  const child = logger.child({ account });
  return {
    debug: (message, fields) => child.debug(fields ?? {}, message),
    info: (message, fields) => child.info(fields ?? {}, message),
    warn: (message, fields) => child.warn(fields ?? {}, message),
    error: (message, fields) => child.error(fields ?? {}, message),
  };
}

/** Keys are the channel's own and begin with the id of a bot: they outlive a change of the account's name. */
export function channelState(kv: KvStore, channel: string): ChannelState {
  const namespace = `channel/${channel}`;
  return {
    get: (key) => kv.get(namespace, key),
    set: (key, value) => kv.set(namespace, key, JSON.parse(JSON.stringify(value))),
    delete: async (key) => void (await kv.delete(namespace, key)),
  };
}

function prefixed(cache: ChannelCache, prefix: string): ChannelCache {
  return {
    get: (key) => cache.get(`${prefix}/${key}`),
    set: (key, value, ttlMs) => cache.set(`${prefix}/${key}`, value, ttlMs),
  };
}
