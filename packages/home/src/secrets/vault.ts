import type { LoadedConfig } from "@signalbox/config";
import { createVault, findEnvironmentSecrets, type Vault } from "@signalbox/redaction";
import type { Env } from "../layout.ts";

/**
 * Collects the secrets of the configuration, the environment and the gateway's token. Channels add the secret fields of
 * their accounts.
 */
export function openVault(loaded: LoadedConfig, env: Env, token?: string): Vault {
  return createVault([
    ...loaded.secrets,
    ...findEnvironmentSecrets(env),
    ...(token === undefined ? [] : [token]),
  ]);
}
