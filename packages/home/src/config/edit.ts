import {
  type ConfigEdit,
  ConfigError,
  editConfig,
  type LoadOptions,
  loadConfig,
  type Problem,
  removeEmptySections,
  type SecretSources,
} from "@signalbox/config";
import { GatewayError } from "../errors.ts";
import type { Env, Home } from "../layout.ts";
import { ASSUMED_SECRETS, secretSources } from "../secrets/sources.ts";
import { configText, replaceConfig } from "./versions.ts";

/**
 * Changes values of the configuration, as long as nothing is wrong afterwards that was not before.
 *
 * @param sources default: secrets that are kept elsewhere are looked up, which programs may take long for
 * @throws ConfigError, GatewayError naming what would be wrong; nothing was changed
 */
export function changeConfig(
  home: Home,
  env: Env,
  edits: readonly ConfigEdit[],
  now: Date,
  sources: SecretSources = secretSources(home, env),
): void {
  replaceConfig(home, editedConfig(home, env, edits, sources), now);
}

/**
 * The text of the configuration with changes that no one has approved yet: no file that they name is read, and no
 * program started. Such a secret is assumed to exist.
 * @throws ConfigError, GatewayError naming what would be wrong
 */
export function proposedConfig(home: Home, env: Env, edits: readonly ConfigEdit[]): string {
  return editedConfig(home, env, edits, ASSUMED_SECRETS);
}

function editedConfig(home: Home, env: Env, edits: readonly ConfigEdit[], sources: SecretSources): string {
  const before = configText(home.configFile);
  const after = editConfig(home.configFile, before, edits);
  const problems = (text: string) => problemsOf(home, text, env, sources);
  const priorFaults = new Set(problems(before).map(({ path, message }) => `${path} ${message}`));
  const [fault] = problems(after).filter(({ path, message }) => !priorFaults.has(`${path} ${message}`));
  if (fault !== undefined)
    throw new GatewayError("config", `Not changed: ${fault.path}: ${fault.message}. ${fault.remedy}`);
  return edits
    .filter(({ value }) => value === undefined)
    .reduce(
      (text, { path }) => removeEmptySections(optionsFor(home, text, env, ASSUMED_SECRETS), path),
      after,
    );
}

function problemsOf(home: Home, text: string, env: Env, sources: SecretSources): readonly Problem[] {
  try {
    return loadConfig(optionsFor(home, text, env, sources)).problems;
  } catch (error) {
    // Nothing could start with it: what is wrong is told all the same.
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function optionsFor(home: Home, text: string, env: Env, sources: SecretSources): LoadOptions {
  return { file: home.configFile, text, env, sources };
}
