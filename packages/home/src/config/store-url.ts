import { ConfigError, type StoreConfig } from "@signalbox/config";
import { GatewayError } from "../errors.ts";
import type { Env, Home } from "../layout.ts";
import { readConfig } from "./read.ts";
import { configText } from "./versions.ts";

/**
 * Returns the URL of the PostgreSQL database that the configuration of a home names, if any.
 *
 * @throws GatewayError if the configuration cannot be used, because another database could be meant
 */
export function getStoreUrl(home: Home, env: Env): string | undefined {
  return getStoreSettings(home, env)?.url;
}

/**
 * Returns the section `store` of a home's configuration, if there is one.
 *
 * @throws as {@link getStoreUrl}
 */
export function getStoreSettings(home: Home, env: Env): StoreConfig | undefined {
  // Most homes have an SQLite file. Reading their whole configuration would delay every command.
  if (!/\bstore["']?\s*:/.test(configText(home.configFile))) return undefined;
  try {
    return readConfig(home, env).config.store;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new GatewayError("config", error.message, { cause: error });
  }
}
