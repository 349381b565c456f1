import type {
  Channel,
  ChannelCache,
  ChannelCommand,
  ChannelContext,
  ChannelDefinition,
  ChannelLogger,
  ChannelState,
  Clock,
  Health,
} from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";

/** An account that is to run. */
export interface PlannedAccount {
  readonly definition: ChannelDefinition;
  readonly account: string;
  /** Checked by the definition's schema. */
  readonly config: unknown;
}

/** One running account of a channel. */
export interface Account {
  readonly channel: string;
  readonly account: string;
  readonly definition: ChannelDefinition;
  readonly running: Channel;
}

/** What a host gives its channels once it runs. */
export interface Services {
  readonly emit: ChannelContext["emit"];
  /** What a channel remembers for good. */
  readonly state: (channel: string) => ChannelState;
  readonly commands: readonly ChannelCommand[];
}

export interface AccountHealth {
  readonly channel: string;
  readonly account: string;
  readonly state: Health["state"];
  readonly reason?: string;
}

/** Accounts of channels, each brought up by itself: one that fails is tried again, and the others run. */
export interface Accounts {
  /** To be called before the start. */
  add(planned: PlannedAccount): void;
  /** Brings every account up; resolves when each has started or failed for the first time. */
  start(services: Services): Promise<void>;
  /** Lets each end what is under way, for at most `drainMs`. */
  stop(drainMs: number): Promise<void>;
  /** An account that runs. */
  get(channel: string, account: string): Account | undefined;
  /** The channel of an account, whether it runs just now or not. */
  definition(channel: string, account: string): ChannelDefinition | undefined;
  health(): readonly AccountHealth[];
}

export interface AccountsOptions {
  /** The logger of an account, which is named `channel/account`. */
  readonly logger: (account: string) => ChannelLogger;
  /** Shared by all accounts, each with keys of its own. */
  readonly cache: ChannelCache;
  readonly clock: Clock;
  /** For the requests of channels. Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Before an account that failed is tried again, in milliseconds. Default 30,000. */
  readonly retryMs?: number;
}

const RETRY_MS = 30_000;

/** Runs accounts of channels for a host. */
export function createAccounts(options: AccountsOptions): Accounts {
  const { clock, cache, fetch = globalThis.fetch, retryMs = RETRY_MS } = options;
  const planned = new Map<string, PlannedAccount>();
  const running = new Map<string, Account>();
  const failures = new Map<string, string>();
  const ending = new AbortController();
  const { signal } = ending;

  const bringUp = async (key: string, plan: PlannedAccount, services: Services): Promise<void> => {
    const { definition, account, config } = plan;
    const logger = options.logger(key);
    try {
      const channel = await definition.create({
        ...{ config, account, logger, fetch, clock, signal },
        // A channel speaks for itself alone, whatever it passes on.
        emit: (event) => services.emit({ ...event, channel: definition.id, account }),
        cache: prefixed(cache, key),
        state: services.state(definition.id),
        commands: services.commands,
      });
      // Known before it listens: what it receives while it starts may be answered.
      running.set(key, { channel: definition.id, account, definition, running: channel });
      await channel.start(signal);
      failures.delete(key);
    } catch (error) {
      if (signal.aborted) return;
      running.delete(key);
      const reason = reasonOf(error);
      failures.set(key, reason);
      logger.error("channel account did not start", { err: reason, retryInMs: retryMs });
      clock.delay(retryMs, signal).then(
        () => bringUp(key, plan, services),
        () => {},
      );
    }
  };

  return {
    add(plan) {
      planned.set(keyOf(plan.definition.id, plan.account), plan);
    },
    async start(services) {
      await Promise.all([...planned].map(([key, plan]) => bringUp(key, plan, services)));
    },
    async stop(drainMs) {
      await Promise.allSettled([...running.values()].map((account) => account.running.stop({ drainMs })));
      ending.abort(new Error("the host of the channels is stopping"));
    },
    get: (channel, account) => running.get(keyOf(channel, account)),
    definition: (channel, account) => planned.get(keyOf(channel, account))?.definition,
    health() {
      return [...planned].map(([key, { definition, account }]) => {
        const health = running.get(key)?.running.health();
        const reason = health && "reason" in health ? health.reason : failures.get(key);
        const state = health?.state ?? "down";
        return { channel: definition.id, account, state, ...(reason === undefined ? {} : { reason }) };
      });
    },
  };
}

function keyOf(channel: string, account: string): string {
  return `${channel}/${account}`;
}

function prefixed(cache: ChannelCache, prefix: string): ChannelCache {
  return {
    get: (key) => cache.get(`${prefix}/${key}`),
    set: (key, value, ttlMs) => cache.set(`${prefix}/${key}`, value, ttlMs),
  };
}
