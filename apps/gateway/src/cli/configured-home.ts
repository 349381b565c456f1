import { ConfigError } from "@signalbox/config";
import { GatewayError, locateHome, readConfig } from "@signalbox/home";
import type { CommonOptions } from "./common-options.ts";
import type { ConfiguredHome } from "./host.ts";

/**
 * Returns the home that the options specify, with its configuration.
 *
 * @throws GatewayError if the configuration is too broken to start with
 */
export function configuredHome(options: CommonOptions): ConfiguredHome {
  const home = locateHome(options.home, process.env);
  return { home, loaded: configOrExit(() => readConfig(home, process.env)), env: process.env };
}

/** Reads or changes the configuration. If it is unusable, prints one line per problem and sets the exit code. */
export function configOrExit<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new GatewayError("config", error.message, { cause: error });
  }
}
