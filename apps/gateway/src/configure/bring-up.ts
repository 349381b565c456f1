import type { AccountServices, PlannedAccount } from "@signalbox/channel/accounts";
import { sleep, systemClock, withTimeout } from "@signalbox/lanes";
import type { Accounts } from "./accounts.ts";

export interface BringUpOptions {
  readonly accounts: Pick<Accounts, "start">;
  readonly services: AccountServices;
  /** How much an earlier process has left to be answered, delivered or gone on with. */
  readonly left: () => Promise<{ readonly inbox: number; readonly outbox: number; readonly runs: number }>;
}

/** How the accounts of channels start together with the gateway. */
export interface BringUp {
  /** Those that are called by their platforms; all of them where an earlier process has left work to be answered. */
  first(): Promise<void>;
  /** The others, until `signal` fires: what loads a vendor's SDK and connects is not waited for by anybody. */
  rest(signal: AbortSignal): Promise<void>;
}

/** How long the start waits for accounts to come up, in milliseconds. */
const ACCOUNTS_MS = 2_000;
/** How long after the start the others begin, so that whoever waits for the gateway is answered before. */
const REST_MS = 50;

export function createBringUp({ accounts, services, left }: BringUpOptions): BringUp {
  return {
    async first() {
      const called = accounts.start(services, (planned) => !connects(planned));
      // Replies of resumed runs need their accounts; one that is slow to connect holds nothing up.
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
