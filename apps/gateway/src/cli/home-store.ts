import { existsSync } from "node:fs";
import { openStore } from "@signalbox/store";
import { EXIT, GatewayError } from "../errors.ts";
import { type Home, locateHome } from "../home.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { CommonOptions } from "./program.ts";

/**
 * Opens the database of a home beside a gateway that may be running on it.
 * @throws GatewayError where there is none
 */
export async function withStore<T>(
  options: CommonOptions,
  use: (store: GatewayStore, home: Home) => Promise<T>,
): Promise<T> {
  const home = locateHome(options.home, process.env);
  if (!existsSync(home.databaseFile)) {
    throw new GatewayError(
      EXIT.failure,
      `There is no database ${home.databaseFile} yet. Start the gateway once, or use --home.`,
    );
  }
  const store = await openStore<GatewayBodies>({ path: home.databaseFile });
  try {
    return await use(store, home);
  } finally {
    await store.close();
  }
}
