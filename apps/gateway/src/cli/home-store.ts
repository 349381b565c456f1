import { type Home, locateHome, withDatabase } from "@signalbox/home";
import type { StoreAccess } from "@signalbox/store";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { CommonOptions } from "./common-options.ts";

/** Uses the database of the home that the options name, beside a gateway that may be running on it. */
export async function withStore<T>(
  options: CommonOptions,
  access: Exclude<StoreAccess, "own">,
  use: (store: GatewayStore, home: Home) => Promise<T>,
): Promise<T> {
  const home = locateHome(options.home, process.env);
  return withDatabase<GatewayBodies, T>(home, access, (store) => use(store, home));
}
