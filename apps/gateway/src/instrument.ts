import type { ChannelContext } from "@signalbox/channel";
import type { FaultPoint } from "@signalbox/store";
import type { Toolbox } from "./agent/toolbox.ts";
import type { Account } from "./configure/accounts.ts";
import type { GatewayStore } from "./store.ts";

/** Wraps functions of a gateway, so that tests and benchmarks can time, count or disturb their calls. */
export interface Instrument {
  readonly store: (store: GatewayStore) => GatewayStore;
  /** Called before the database writes, commits and syncs. If it throws, the operation fails with that error. */
  readonly storeFaults: (point: FaultPoint) => void;
  account(account: Account): Account;
  toolbox(toolbox: Toolbox): Toolbox;
  /** Wraps the function that receives the channels' events. */
  emit(emit: ChannelContext["emit"]): ChannelContext["emit"];
}
