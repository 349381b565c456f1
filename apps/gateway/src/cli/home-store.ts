import { type Home, locateHome, withDatabase } from "@signalbox/home";
import type { AnyStore, StoreAccess } from "@signalbox/store";
import type { Approval } from "@signalbox/tools";
import type { ServiceBodies } from "../messages/service-store.ts";
import type { CommonOptions } from "./common-options.ts";

/** Types of the JSON columns that commands read from the store. */
interface HomeBodies extends ServiceBodies {
  readonly approval: Approval;
}

export type HomeStore = AnyStore<HomeBodies>;

/** Opens the database of the home that the options specify. A gateway may be running on this home. */
export async function withStore<T>(
  options: CommonOptions,
  access: Exclude<StoreAccess, "own">,
  use: (store: HomeStore, home: Home) => Promise<T>,
): Promise<T> {
  const home = locateHome(options.home, process.env);
  return withDatabase<HomeBodies, T>(home, access, (store) => use(store, home));
}
