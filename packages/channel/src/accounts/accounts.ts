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

/** The right to run an account. */
export interface AccountRight {
  /** Fires when another host has it: the account is brought down at once. */
  readonly lost: AbortSignal;
  /** Releases the account for the next host. */
  release(): Promise<void>;
}

/** What a host gives its channels once it runs. */
export interface Services {
  readonly emit: ChannelContext["emit"];
  /**
   * Requests the right to run an account if several hosts share it, because a bot that two hosts run answers everything
   * twice. Undefined while another host has it; it is then requested again. Default: there is no other host.
   */
  readonly right?: (channel: string, account: string) => Promise<AccountRight | undefined>;
  /** What a channel remembers for good. */
  readonly state: (channel: string) => ChannelState;
  /** The commands that an account lists on its platform. */
  readonly commands: (channel: string, account: string) => readonly ChannelCommand[];
}

export interface AccountHealth {
  readonly channel: string;
  readonly account: string;
  readonly state: Health["state"];
  readonly reason?: string;
}

/**
 * Accounts of channels, each started by itself: one that fails is retried while the others run. An account that another
 * host runs is started once that host has released it.
 */
export interface Accounts {
  /** To be called before the start. */
  add(planned: PlannedAccount): void;
  /**
   * Starts the chosen accounts that are not running yet, by default all. Resolves when each has started or failed for
   * the first time.
   */
  start(services: Services, chosen?: (planned: PlannedAccount) => boolean): Promise<void>;
  /** Ends some accounts and starts others, which may replace existing ones. All other accounts are unaffected. */
  change(
    accounts: {
      readonly remove: readonly Pick<Account, "channel" | "account">[];
      readonly add: readonly PlannedAccount[];
    },
    drainMs: number,
  ): Promise<void>;
  /** Lets each account end its work in progress, for at most `drainMs`. */
  stop(drainMs: number): Promise<void>;
  /** An account that runs. */
  get(channel: string, account: string): Account | undefined;
  /** The channel of an account, whether it is running or not. */
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
  /** Before an account that failed, or that another host runs, is tried again, in milliseconds. Default 30,000. */
  readonly retryMs?: number;
}

const RETRY_MS = 30_000;
const ELSEWHERE = "another host runs it";

/** An account as the host has it: planned, and perhaps running. */
interface Hosted {
  readonly plan: PlannedAccount;
  readonly ending: AbortController;
  isBegun?: true;
  /** Where hosts share their accounts, for as long as this one has it. */
  right?: AccountRight;
  running?: Account;
  failure?: string;
}

/** Runs accounts of channels for a host. */
export function createAccounts(options: AccountsOptions): Accounts {
  return new AccountHost(options);
}

class AccountHost implements Accounts {
  readonly #options: AccountsOptions;
  readonly #fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly #retryMs: number;
  readonly #hosted = new Map<string, Hosted>();
  #services: Services | undefined;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? globalThis.fetch;
    this.#retryMs = options.retryMs ?? RETRY_MS;
  }

  add(planned: PlannedAccount): void {
    this.#plan(planned);
  }

  async start(
    given: Services,
    chosen: ((planned: PlannedAccount) => boolean) | undefined = () => true,
  ): Promise<void> {
    this.#services = given;
    const due = [...this.#hosted].filter(([, account]) => account.isBegun !== true && chosen(account.plan));
    await Promise.all(due.map(([key, account]) => this.#bringUp(key, account, given)));
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
    const replaced = add.map(({ definition, account }) => keyOf(definition.id, account));
    const gone = remove.map(({ channel, account }) => keyOf(channel, account));
    // One connection of an account at a time: the next begins when the last is over.
    await Promise.all(
      [...gone, ...replaced].map(async (key) => {
        const before = this.#hosted.get(key);
        if (before === undefined) return;
        const ended = this.#end(before, drainMs);
        // What is to be sent meanwhile waits for the next.
        delete before.running;
        await ended;
      }),
    );
    for (const key of gone) this.#hosted.delete(key);
    const added = add.map((planned) => this.#plan(planned));
    const given = this.#services;
    if (given !== undefined)
      await Promise.all(added.map(([key, account]) => this.#bringUp(key, account, given)));
  }

  async stop(drainMs: number): Promise<void> {
    // What a change under way would add has nobody to stop it.
    this.#services = undefined;
    await Promise.all([...this.#hosted.values()].map((account) => this.#end(account, drainMs)));
  }

  get(channel: string, account: string): Account | undefined {
    return this.#hosted.get(keyOf(channel, account))?.running;
  }

  definition(channel: string, account: string): ChannelDefinition | undefined {
    return this.#hosted.get(keyOf(channel, account))?.plan.definition;
  }

  health(): readonly AccountHealth[] {
    return [...this.#hosted.values()].map(({ plan: { definition, account }, running, failure }) => {
      const health = running?.running.health();
      const reason = health && "reason" in health ? health.reason : failure;
      const state = health?.state ?? (failure === undefined ? "starting" : "down");
      return { channel: definition.id, account, state, ...(reason === undefined ? {} : { reason }) };
    });
  }

  #tryLater(key: string, account: Hosted, given: Services): void {
    this.#options.clock.delay(this.#retryMs, account.ending.signal).then(
      () => this.#bringUp(key, account, given),
      () => {},
    );
  }

  async #bringUp(key: string, account: Hosted, given: Services): Promise<void> {
    const { plan, ending } = account;
    account.isBegun = true;
    let right: AccountRight | undefined;
    try {
      right = await given.right?.(plan.definition.id, plan.account);
      if (ending.signal.aborted) return await right?.release();
      if (right === undefined && given.right !== undefined) {
        account.failure = ELSEWHERE;
        return this.#tryLater(key, account, given);
      }
      if (right !== undefined) this.#keepRight(key, account, right, given);
      await this.#run(key, account, given);
    } catch (error) {
      // Where the right was lost meanwhile, the account is down and waits already.
      if (ending.signal.aborted || account.right !== right) return;
      delete account.running;
      delete account.right;
      const reason = reasonOf(error);
      account.failure = reason;
      this.#options
        .logger(key)
        .error("channel account did not start", { err: reason, retryInMs: this.#retryMs });
      // Another host may be luckier.
      await right?.release().catch(() => {});
      this.#tryLater(key, account, given);
    }
  }

  #keepRight(key: string, account: Hosted, right: AccountRight, given: Services): void {
    account.right = right;
    const lose = (): void => {
      if (account.right === right && !account.ending.signal.aborted) void this.#takeDown(key, account, given);
    };
    right.lost.addEventListener("abort", lose, { once: true });
  }

  async #run(key: string, account: Hosted, given: Services): Promise<void> {
    const { clock, cache } = this.#options;
    const { plan, ending, right } = account;
    const { definition, config } = plan;
    const signal = right === undefined ? ending.signal : AbortSignal.any([ending.signal, right.lost]);
    const channel = await definition.create({
      config,
      account: plan.account,
      logger: this.#options.logger(key),
      fetch: this.#fetch,
      clock,
      signal,
      // A channel speaks for itself alone, whatever it passes on.
      emit: (event) => given.emit({ ...event, channel: definition.id, account: plan.account }),
      cache: prefixed(cache, key),
      state: given.state(definition.id),
      commands: given.commands(definition.id, plan.account),
    });
    try {
      signal.throwIfAborted();
      // Known before it listens: what it receives while it starts may be answered.
      account.running = { channel: definition.id, account: plan.account, definition, running: channel };
      await channel.start(signal);
    } catch (error) {
      // It may hold connections by now, or a process of its own.
      await channel.stop({ drainMs: 0 }).catch(() => {});
      throw error;
    }
    delete account.failure;
  }

  /** Another host runs the account now: no work in progress may continue. */
  async #takeDown(key: string, account: Hosted, given: Services): Promise<void> {
    const { running } = account;
    delete account.running;
    delete account.right;
    account.failure = ELSEWHERE;
    this.#options.logger(key).warn("channel account is run by another host now");
    await running?.running.stop({ drainMs: 0 }).catch(() => {});
    this.#tryLater(key, account, given);
  }

  async #end(account: Hosted, drainMs: number): Promise<void> {
    const { running, ending, right } = account;
    await running?.running.stop({ drainMs }).catch(() => {});
    ending.abort(new Error("the host of the channels is stopping"));
    await right?.release().catch(() => {});
  }

  #plan(planned: PlannedAccount): [string, Hosted] {
    const key = keyOf(planned.definition.id, planned.account);
    const account: Hosted = { plan: planned, ending: new AbortController() };
    this.#hosted.set(key, account);
    return [key, account];
  }
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
