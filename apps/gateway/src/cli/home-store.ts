import { existsSync } from "node:fs";
import { openStore, type StoreAccess } from "@signalbox/store";
import { EXIT, GatewayError } from "../errors.ts";
import { type Home, locateHome } from "../home/home.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { CommonOptions } from "./common-options.ts";

/**
 * Opens the database of a home beside a gateway that may be running on it, and that may be of another version: such a
 * database is refused and left as it is.
 *
 * @throws GatewayError where there is none
 */
export async function withStore<T>(
  options: CommonOptions,
  access: Exclude<StoreAccess, "own">,
  use: (store: GatewayStore, home: Home) => Promise<T>,
): Promise<T> {
  const home = locateHome(options.home, process.env);
  if (!existsSync(home.databaseFile)) {
    throw new GatewayError(
      EXIT.failure,
      `There is no database ${home.databaseFile} yet. Start the gateway once, or use --home.`,
    );
  }
  const store = await openStore<GatewayBodies>({ path: home.databaseFile, access });
  try {
    return await use(store, home);
  } finally {
    await store.close();
  }
}
