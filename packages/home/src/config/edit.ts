import { type ConfigEdit, ConfigError, editConfig, loadConfig, type Problem } from "@signalbox/config";
import { GatewayError } from "../errors.ts";
import type { Env, Home } from "../layout.ts";
import { secretSources } from "../secrets/sources.ts";
import { configText, replaceConfig } from "./versions.ts";

/**
 * Changes values of the configuration, as long as nothing is wrong afterwards that was not before.
 *
 * @throws ConfigError, GatewayError naming what would be wrong; nothing was changed
 */
export function changeConfig(home: Home, env: Env, edits: readonly ConfigEdit[], now: Date): void {
  replaceConfig(home, editedConfig(home, env, edits), now);
}

/**
 * The text of the configuration as it would be with these changes.
 *
 * @throws ConfigError, GatewayError naming what would be wrong
 */
export function editedConfig(home: Home, env: Env, edits: readonly ConfigEdit[]): string {
  const before = configText(home.configFile);
  const after = editConfig(home.configFile, before, edits);
  const known = new Set(problemsOf(home, env, before).map(({ path, message }) => `${path} ${message}`));
  const [fault] = problemsOf(home, env, after).filter(
    ({ path, message }) => !known.has(`${path} ${message}`),
  );
  if (fault !== undefined)
    throw new GatewayError("config", `Not changed: ${fault.path}: ${fault.message}. ${fault.remedy}`);
  return after;
}

function problemsOf(home: Home, env: Env, text: string): readonly Problem[] {
  try {
    return loadConfig({ file: home.configFile, text, env, sources: secretSources(home, env) }).problems;
  } catch (error) {
    // Nothing could start with it: what is wrong is told all the same.
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
