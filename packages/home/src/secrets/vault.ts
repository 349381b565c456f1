import type { LoadedConfig } from "@signalbox/config";
import { createVault, findEnvironmentSecrets, type Vault } from "@signalbox/redaction";
import type { Env } from "../layout.ts";

/**
 * Every secret that this process knows: of the configuration by its places, of the environment, and its own token.
 * Channels add the fields of their accounts that they call secret.
 */
export function openVault(loaded: LoadedConfig, env: Env, token?: string): Vault {
  return createVault([
    ...loaded.secrets,
    ...findEnvironmentSecrets(env),
    ...(token === undefined ? [] : [token]),
  ]);
}
