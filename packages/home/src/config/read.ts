import { type Config, type LoadedConfig, loadConfig, type SecretSources } from "@signalbox/config";
import { GatewayError } from "../errors.ts";
import type { Env, Home } from "../layout.ts";
import { unreadable } from "../readable.ts";
import { ASSUMED_SECRETS, runSecretPrograms, secretSources } from "../secrets/sources.ts";
import { configText } from "./versions.ts";

/**
 * Reads the configuration of a home. Without a file, the defaults apply.
 *
 * @throws ConfigError if nothing can start with it, GatewayError if the file cannot be read or there are several
 */
export function readConfig(home: Home, env: Env): LoadedConfig {
  return readWith(home, env, secretSources(home, env));
}

/**
 * Reads the configuration again for a running gateway. Programs that provide secrets run in parallel, without blocking
 * the event loop.
 *
 * @param last provides the `gateway` and `store` sections if they are invalid now
 * @throws as {@link readConfig}
 */
export async function rereadConfig(
  home: Home,
  env: Env,
  last: Pick<Config, "gateway" | "store">,
): Promise<LoadedConfig> {
  return withPrograms(home, env, (sources) => readWith(home, env, sources, last));
}

/**
 * Loads a text as the configuration of a home, without writing it.
 *
 * @param options `runsPrograms`: false assumes the secrets that programs provide, and starts none of them
 * @throws ConfigError if nothing can start with it
 */
export async function loadConfigText(
  home: Home,
  env: Env,
  text: string,
  { runsPrograms }: { readonly runsPrograms: boolean },
): Promise<LoadedConfig> {
  const load = (sources: SecretSources): LoadedConfig =>
    loadConfig({ file: home.configFile, text, env, sources });
  if (runsPrograms) return withPrograms(home, env, load);
  return load({ ...secretSources(home, env), command: ASSUMED_SECRETS.command });
}

/** Loads a configuration twice: to find the programs that provide secrets, and with their outputs. */
async function withPrograms(
  home: Home,
  env: Env,
  load: (sources: SecretSources) => LoadedConfig,
): Promise<LoadedConfig> {
  const { file } = secretSources(home, env);
  const named: (readonly string[])[] = [];
  const note = (argv: readonly string[]): string => {
    named.push(argv);
    return ASSUMED_SECRETS.command(argv);
  };
  load({ file, command: note });
  return load({ file, command: await runSecretPrograms(home, env, named) });
}

function readWith(
  home: Home,
  env: Env,
  sources: SecretSources,
  last?: Pick<Config, "gateway" | "store">,
): LoadedConfig {
  if (home.otherConfigFiles.length > 0) {
    const files = [home.configFile, ...home.otherConfigFiles].join(", ");
    throw new GatewayError("config", `There are several configuration files: ${files}. Keep one.`);
  }
  const text = readText(home.configFile);
  return loadConfig({
    file: home.configFile,
    text,
    env,
    sources,
    last,
  });
}

function readText(file: string): string {
  try {
    return configText(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}
