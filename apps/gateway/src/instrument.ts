import type { ChannelContext } from "@signalbox/channel";
import type { FaultPoint } from "@signalbox/store";
import type { Toolbox } from "./agent/toolbox.ts";
import type { Account } from "./configure/accounts.ts";
import type { GatewayStore } from "./store.ts";

/** Wraps the parts of a gateway as they are put together, for what times, counts or disturbs their work. */
export interface Instrument {
  readonly store: (store: GatewayStore) => GatewayStore;
  /** Called before the database writes, commits and syncs; what it throws happens there. */
  readonly storeFaults: (point: FaultPoint) => void;
  account(account: Account): Account;
  toolbox(toolbox: Toolbox): Toolbox;
  /** Wraps the function to which channels pass their events. */
  emit(emit: ChannelContext["emit"]): ChannelContext["emit"];
}
