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
 * Changes values of the configuration, unless that causes a new problem.
 *
 * @param sources default: reads secrets from files and programs, which may take long
 * @throws ConfigError, GatewayError with the new problem; nothing is changed
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
 * Returns the text of the configuration with changes that are not approved yet. Reads no secret files and starts no
 * programs that the changes name; such secrets are assumed to exist.
 *
 * @throws ConfigError, GatewayError with the new problem
 */
export function proposedConfig(home: Home, env: Env, edits: readonly ConfigEdit[]): string {
  return editedConfig(home, env, edits, ASSUMED_SECRETS);
}

/**
 * Returns the text of the configuration with changes, even if they cause problems. Reads no secrets.
 *
 * @throws ConfigError if a change cannot be made
 */
export function editedText(home: Home, env: Env, edits: readonly ConfigEdit[]): string {
  const text = editConfig(home.configFile, configText(home.configFile), edits);
  return withoutEmptySections(home, env, edits, text);
}

function withoutEmptySections(home: Home, env: Env, edits: readonly ConfigEdit[], edited: string): string {
  return edits
    .filter(({ value }) => value === undefined)
    .reduce(
      (text, { path }) => removeEmptySections(getLoadOptions(home, text, env, ASSUMED_SECRETS), path),
      edited,
    );
}

function editedConfig(home: Home, env: Env, edits: readonly ConfigEdit[], sources: SecretSources): string {
  const before = configText(home.configFile);
  const after = editConfig(home.configFile, before, edits);
  const problems = (text: string) => getProblems(home, text, env, sources);
  const priorFaults = new Set(problems(before).map(({ path, message }) => `${path} ${message}`));
  const [fault] = problems(after).filter(({ path, message }) => !priorFaults.has(`${path} ${message}`));
  if (fault !== undefined)
    throw new GatewayError("config", `Not changed: ${fault.path}: ${fault.message}. ${fault.remedy}`);
  return withoutEmptySections(home, env, edits, after);
}

function getProblems(home: Home, text: string, env: Env, sources: SecretSources): readonly Problem[] {
  try {
    return loadConfig(getLoadOptions(home, text, env, sources)).problems;
  } catch (error) {
    // The configuration is unusable. Compare its problems like those of any other configuration.
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function getLoadOptions(home: Home, text: string, env: Env, sources: SecretSources): LoadOptions {
  return { file: home.configFile, text, env, sources };
}
