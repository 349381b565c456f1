import { existsSync, readFileSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { type Config, type LoadedConfig, loadConfig } from "@signalbox/config";
import { GatewayError } from "../errors.ts";
import type { Env, Home } from "../layout.ts";
import { secretSources } from "../secrets/sources.ts";

/**
 * Reads the configuration of a home; one without a file has the defaults.
 * @param last what a gateway that runs goes on with where its own section is wrong by now
 * @throws ConfigError where nothing can start, GatewayError where the file cannot be read or there are several
 */
export function readConfig(home: Home, env: Env, last?: Pick<Config, "gateway">): LoadedConfig {
  if (home.otherConfigFiles.length > 0) {
    const files = [home.configFile, ...home.otherConfigFiles].join(", ");
    throw new GatewayError("config", `There are several configuration files: ${files}. Keep one.`);
  }
  const text = readText(home.configFile);
  return loadConfig({
    file: home.configFile,
    text,
    env,
    sources: secretSources(home, env),
    ...(last === undefined ? {} : { lastGateway: last.gateway }),
  });
}

function readText(file: string): string {
  if (!existsSync(file)) return "";
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new GatewayError(
      "config",
      `${file} cannot be read: ${reasonOf(error)}. Make it readable for this user.`,
    );
  }
}
