import { ConfigError, findMissingReferences } from "@signalbox/config";
import { configText } from "../config/versions.ts";
import type { Env, Home } from "../layout.ts";
import { ASSUMED_SECRETS, secretSources } from "./sources.ts";

/** A secret that the configuration needs and that does not exist. */
export interface MissingSecret {
  /** Such as `models.providers.anthropic.apiKey`. */
  readonly path: string;
  /** Continues a sentence that begins with the path. */
  readonly message: string;
}

/**
 * Returns the secrets of a configuration that cannot be read: variables and files. Programs that provide secrets are
 * not started, because the configuration may come from elsewhere. Returns nothing for text that cannot be parsed.
 */
export function findMissingSecrets(home: Home, env: Env): readonly MissingSecret[] {
  const text = configText(home.configFile);
  if (text === undefined) return [];
  const sources = { ...secretSources(home, env), command: ASSUMED_SECRETS.command };
  try {
    return findMissingReferences({ file: home.configFile, text, env, sources }).map(({ path, message }) => ({
      path,
      message,
    }));
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}
