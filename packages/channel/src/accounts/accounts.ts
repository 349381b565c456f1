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
import { permitRequests } from "../host/request-phase.ts";

/** An account to run. */
export interface PlannedAccount {
  readonly definition: ChannelDefinition;
  readonly account: string;
  /** Validated by the definition's schema. */
  readonly config: unknown;
}

/** An account that can send and download. It listens unless another host does. */
export interface Account {
  readonly channel: string;
  readonly account: string;
  readonly definition: ChannelDefinition;
  readonly running: Channel;
}

/** The lease of an account, if several hosts have the same accounts. */
export interface AccountLease {
  /** Fires when another host has the lease. The account is then stopped immediately. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Functions that the host provides to running accounts. */
export interface AccountServices {
  readonly emit: ChannelContext["emit"];
  /**
   * Acquires the lease of an account, because a bot that listens on two hosts would answer everything twice. Returns
   * `undefined` while another host holds the lease. The request is then repeated. Default: there is no other host.
   */
  readonly acquireLease?: (channel: string, account: string) => Promise<AccountLease | undefined>;
  /**
   * Delay before the lease of an account is requested again, in milliseconds. Default: `retryMs`, see
   * {@link AccountsOptions}
   */
  readonly leaseRetryMs?: number;
  /** True if other hosts send through the accounts, too. Default: false. */
  readonly isShared?: boolean;
  /**
   * Called before each request to a platform. Returns false while another host may have taken over the work of this
   * one, for instance after this process was suspended. The request then fails as not sent. Default: always true.
   */
  readonly mayRequest?: () => boolean;
  /** The durable state of a channel. */
  readonly state: (channel: string) => ChannelState;
  /** The commands that an account registers on its platform. */
  readonly commands: (channel: string, account: string) => readonly ChannelCommand[];
}

interface AccountHealth {
  readonly channel: string;
  readonly account: string;
  readonly state: Health["state"];
  readonly reason?: string;
}

/**
 * Accounts of channels. Each one starts independently: an account that fails is retried while the others run. An
 * account that listens on another host can send here, and starts to listen when that host releases it.
 */
export interface Accounts {
  /** Adds an account before `start`. */
  add(planned: PlannedAccount): void;
  /**
   * Starts the selected accounts that are not running yet, by default all of them. Resolves when each has started or
   * failed once.
   */
  start(services: AccountServices, chosen?: (planned: PlannedAccount) => boolean): Promise<void>;
  /** Stops some accounts and starts others, which may replace existing ones. Other accounts keep running. */
  change(
    accounts: {
      readonly remove: readonly Pick<Account, "channel" | "account">[];
      readonly add: readonly PlannedAccount[];
    },
    drainMs: number,
  ): Promise<void>;
  /** Stops all accounts. Waits at most `drainMs` for operations in progress. */
  stop(drainMs: number): Promise<void>;
  /** Returns an account that can send. */
  get(channel: string, account: string): Account | undefined;
  /** Returns the channel of an account, even if the account is not running. */
  definition(channel: string, account: string): ChannelDefinition | undefined;
  /** Returns the accounts that can send only over their own connection, if this host does not have their lease. */
  unableToSend(): readonly Pick<Account, "channel" | "account">[];
  health(): readonly AccountHealth[];
}

export interface AccountsOptions {
  /** Creates the logger of an account. Its name is `<channel>/<account>`. */
  readonly logger: (account: string) => ChannelLogger;
  /** Shared by all accounts. Keys are prefixed per account. */
  readonly cache: ChannelCache;
  readonly clock: Clock;
  /** Used for the requests of channels. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Maximum delay before a failed account is retried, in milliseconds. The delay starts at one second and doubles. An
   * account that listens on another host is tried again after the maximum. Default: 30,000.
   */
  readonly retryMs?: number;
}

const FIRST_RETRY_MS = 1_000;
const RETRY_MS = 30_000;
const ELSEWHERE = "another host runs it";

/** The state of an account, running or not. */
interface HostedAccount {
  readonly plan: PlannedAccount;
  readonly ending: AbortController;
  isBegun?: true;
  /** Held while the account listens. */
  lease?: AccountLease;
  /** Present once the account can send, even if another host listens. */
  running?: Account;
  /** Aborted when the channel of `running` must end. */
  down?: AbortController;
  failure?: string;
  /** Number of failed starts since the account last ran. */
  failures: number;
}

/**
 * Runs accounts of channels for a host.
 *
 * @example
 * ```ts
 * const accounts = createAccounts({ logger, cache, clock: systemClock });
 * accounts.add({ definition: telegram, account: "main", config: { botToken } });
 * await accounts.start({ emit, state, commands: () => [] });
 * ```
 */
export function createAccounts(options: AccountsOptions): Accounts {
  return new AccountHost(options);
}

class AccountHost implements Accounts {
  readonly #options: AccountsOptions;
  readonly #fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly #retryMs: number;
  readonly #hosted = new Map<string, HostedAccount>();
  #services: AccountServices | undefined;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? globalThis.fetch;
    this.#retryMs = options.retryMs ?? RETRY_MS;
  }

  add(planned: PlannedAccount): void {
    this.#plan(planned);
  }

  async start(
    services: AccountServices,
    chosen: ((planned: PlannedAccount) => boolean) | undefined = () => true,
  ): Promise<void> {
    this.#services = services;
    const due = [...this.#hosted].filter(([, account]) => account.isBegun !== true && chosen(account.plan));
    await Promise.all(due.map(([key, account]) => this.#start(key, account, services)));
  }

  async change(
    {
      remove,
      add,
    }: {
      readonly remove: readonly Pick<Account, "channel" | "account">[];
      readonly add: readonly PlannedAccount[];
    },
    drainMs: number,
  ): Promise<void> {
    const replaced = add.map(({ definition, account }) => getKey(definition.id, account));
    const gone = remove.map(({ channel, account }) => getKey(channel, account));
    // An account must never have two connections.
    await Promise.all(
      [...gone, ...replaced].map(async (key) => {
        const before = this.#hosted.get(key);
        if (before === undefined) return;
        const ended = this.#end(before, drainMs);
        // Messages wait for the replacement account.
        delete before.running;
        await ended;
      }),
    );
    for (const key of gone) this.#hosted.delete(key);
    const added = add.map((planned) => this.#plan(planned));
    const services = this.#services;
    if (services !== undefined)
      await Promise.all(added.map(([key, account]) => this.#start(key, account, services)));
  }

  async stop(drainMs: number): Promise<void> {
    // A concurrent `change` must not start accounts that would never be stopped.
    this.#services = undefined;
    await Promise.all([...this.#hosted.values()].map((account) => this.#end(account, drainMs)));
  }

  get(channel: string, account: string): Account | undefined {
    return this.#hosted.get(getKey(channel, account))?.running;
  }

  definition(channel: string, account: string): ChannelDefinition | undefined {
    return this.#hosted.get(getKey(channel, account))?.plan.definition;
  }

  unableToSend(): readonly Pick<Account, "channel" | "account">[] {
    return [...this.#hosted.values()]
      .filter(
        ({ plan: { definition, config }, lease }) =>
          lease === undefined && definition.sendsOverConnection?.(config) === true,
      )
      .map(({ plan: { definition, account } }) => ({ channel: definition.id, account }));
  }

  health(): readonly AccountHealth[] {
    return [...this.#hosted.values()].map(({ plan: { definition, account }, running, failure }) => {
      // A channel that was not started knows nothing about its connection.
      const health = failure === ELSEWHERE ? undefined : running?.running.health();
      const reason = health && "reason" in health ? health.reason : failure;
      const state = health?.state ?? (failure === undefined ? "starting" : "down");
      return { channel: definition.id, account, state, reason };
    });
  }

  #startLater(
    key: string,
    account: HostedAccount,
    services: AccountServices,
    delayMs: number = this.#retryMs,
  ): void {
    this.#options.clock.delay(delayMs, account.ending.signal).then(
      () => this.#start(key, account, services),
      () => {},
    );
  }

  async #start(key: string, account: HostedAccount, services: AccountServices): Promise<void> {
    const { plan, ending } = account;
    account.isBegun = true;
    let lease: AccountLease | undefined;
    try {
      lease = await services.acquireLease?.(plan.definition.id, plan.account);
      if (ending.signal.aborted) return await lease?.release();
      if (lease === undefined && services.acquireLease !== undefined) {
        account.failure = ELSEWHERE;
        if (account.running === undefined) await this.#create(key, account, services);
        return this.#startLater(key, account, services, services.leaseRetryMs);
      }
      if (lease !== undefined) this.#holdLease(key, account, lease, services);
      await this.#run(key, account, services);
    } catch (error) {
      // If the lease was lost, the account is already waiting for the next attempt.
      if (ending.signal.aborted || account.lease !== lease) return;
      // The lease could not be requested, for example because the database is away. The account can still send.
      if (lease === undefined && services.acquireLease !== undefined && account.running !== undefined)
        return this.#startLater(key, account, services, services.leaseRetryMs);
      delete account.running;
      delete account.down;
      delete account.lease;
      const reason = reasonOf(error);
      account.failure = reason;
      const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** account.failures, this.#retryMs);
      account.failures += 1;
      this.#options.logger(key).error("channel account did not start", { err: reason, retryInMs });
      // Another host may be able to start the account.
      await lease?.release().catch(() => {});
      this.#startLater(key, account, services, retryInMs);
    }
  }

  #holdLease(key: string, account: HostedAccount, lease: AccountLease, services: AccountServices): void {
    account.lease = lease;
    const onLost = (): void => {
      if (account.lease === lease && !account.ending.signal.aborted)
        void this.#takeDown(key, account, services);
    };
    lease.lost.addEventListener("abort", onLost, { once: true });
  }

  /** Creates the channel of an account, which can then send. */
  async #create(key: string, account: HostedAccount, services: AccountServices): Promise<Account> {
    const { clock, cache } = this.#options;
    const { plan, ending } = account;
    const { definition, config } = plan;
    const down = new AbortController();
    const signal = AbortSignal.any([ending.signal, down.signal]);
    const channel = await definition.create({
      config,
      account: plan.account,
      logger: this.#options.logger(key),
      fetch: services.mayRequest ? permitRequests(this.#fetch, services.mayRequest) : this.#fetch,
      clock,
      signal,
      // A channel must not emit events on behalf of another account.
      emit: (event) => services.emit({ ...event, channel: definition.id, account: plan.account }),
      cache: prefixKeys(cache, key),
      state: services.state(definition.id),
      commands: services.commands(definition.id, plan.account),
      isShared: services.isShared ?? false,
      mayRequest: services.mayRequest,
    });
    if (signal.aborted) {
      await channel.stop({ drainMs: 0 }).catch(() => {});
      signal.throwIfAborted();
    }
    account.down = down;
    account.running = { channel: definition.id, account: plan.account, definition, running: channel };
    return account.running;
  }

  async #run(key: string, account: HostedAccount, services: AccountServices): Promise<void> {
    const { ending, lease } = account;
    const signal = lease === undefined ? ending.signal : AbortSignal.any([ending.signal, lease.lost]);
    // Available before the start completes, because messages that arrive during the start may be answered.
    const { running: channel } = account.running ?? (await this.#create(key, account, services));
    const { down } = account;
    try {
      signal.throwIfAborted();
      await channel.start(signal);
    } catch (error) {
      // The channel may already hold connections or a child process.
      down?.abort(error);
      await channel.stop({ drainMs: 0 }).catch(() => {});
      throw error;
    }
    delete account.failure;
    account.failures = 0;
  }

  /** Stops an account that now listens on another host, without waiting for operations in progress. */
  async #takeDown(key: string, account: HostedAccount, services: AccountServices): Promise<void> {
    const { running, down } = account;
    delete account.running;
    delete account.down;
    delete account.lease;
    account.failure = ELSEWHERE;
    this.#options.logger(key).warn("another host runs the channel account now");
    down?.abort(new Error("another host runs the channel account"));
    await running?.running.stop({ drainMs: 0 }).catch(() => {});
    this.#startLater(key, account, services, services.leaseRetryMs);
  }

  async #end(account: HostedAccount, drainMs: number): Promise<void> {
    const { running, ending, lease } = account;
    await running?.running.stop({ drainMs }).catch(() => {});
    ending.abort(new Error("the host of the channels is stopping"));
    await lease?.release().catch(() => {});
  }

  #plan(planned: PlannedAccount): [string, HostedAccount] {
    const key = getKey(planned.definition.id, planned.account);
    const account: HostedAccount = { plan: planned, ending: new AbortController(), failures: 0 };
    this.#hosted.set(key, account);
    return [key, account];
  }
}

function getKey(channel: string, account: string): string {
  return `${channel}/${account}`;
}

function prefixKeys(cache: ChannelCache, prefix: string): ChannelCache {
  return {
    get: (key) => cache.get(`${prefix}/${key}`),
    set: (key, value, ttlMs) => cache.set(`${prefix}/${key}`, value, ttlMs),
  };
}
