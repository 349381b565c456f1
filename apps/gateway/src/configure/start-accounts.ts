import type { AccountServices, PlannedAccount } from "@signalbox/channel/accounts";
import { sleep, systemClock, withTimeout } from "@signalbox/lanes";
import type { Accounts } from "./accounts.ts";

export interface AccountStarterOptions {
  readonly accounts: Accounts;
  readonly services: AccountServices;
  /** Counts the work that an earlier process left unfinished. */
  readonly left: () => Promise<{ readonly inbox: number; readonly outbox: number; readonly runs: number }>;
}

/** Starts the channel accounts in two steps. */
export interface AccountStarter {
  /** Starts accounts that receive webhooks. If an earlier process left unfinished work, starts all accounts. */
  first(): Promise<void>;
  /**
   * Starts the remaining accounts until `signal` is aborted. Nothing waits for them, because loading an SDK and
   * connecting is slow.
   */
  rest(signal: AbortSignal): Promise<void>;
}

/** Time limit for accounts to connect before the start continues, in milliseconds. */
const ACCOUNTS_MS = 2_000;
/**
 * Delay before the remaining accounts start, in milliseconds. Requests that are waiting for the start are answered
 * first.
 */
const REST_MS = 50;

export function createAccountStarter({ accounts, services, left }: AccountStarterOptions): AccountStarter {
  return {
    async first() {
      const called = accounts.start(services, (planned) => !connects(planned));
      // Replies from resumed runs need their accounts. An account that connects slowly must not block the start.
      const { inbox, outbox, runs } = await left();
      const needed = inbox + outbox + runs > 0 ? [called, accounts.start(services)] : [called];
      await withTimeout(ACCOUNTS_MS, Promise.all(needed));
    },
    async rest(signal) {
      await sleep(systemClock, REST_MS, signal);
      if (!signal.aborted) await accounts.start(services);
    },
  };
}

function connects({ definition, config }: PlannedAccount): boolean {
  return definition.connects?.(config) === true;
}
