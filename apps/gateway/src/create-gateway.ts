import type { Tool } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import { formatProblem, loadConfig, type Problem } from "@signalbox/config";
import { gatewayToken, locateHome, openVault, prepareHome, secretSources } from "@signalbox/home";
import type { Clock } from "@signalbox/lanes";
import { createLogger } from "@signalbox/telemetry/logger";
import { stringify } from "yaml";
import { ASSETS } from "./assets.ts";
import { resolveConfig } from "./configure/resolve-config.ts";
import { startGateway } from "./gateway.ts";
import type { Gateway } from "./gateway-options.ts";
import type { GatewayHook } from "./hooks/hook-points.ts";

/** A gateway inside another program. */
export interface CreateGatewayOptions {
  /** The folder that holds everything it keeps: database, token, workspaces. Made where it is missing. */
  readonly home: string;
  /** The configuration, as `signalbox.yaml` has it: its text, or the same as an object. Default: nothing set. */
  readonly config?: string | Readonly<Record<string, unknown>>;
  /** For `${…}` and the vendors' keys. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Channels in addition to the built-in ones. */
  readonly channels?: readonly ChannelDefinition[];
  /** Tools in addition to the built-in ones. An agent gets those that its `tools.allow` names. */
  readonly tools?: readonly Tool[];
  /** Code of your own at the named points of a message's way. */
  readonly hooks?: readonly GatewayHook[];
  /** Time, and what comes by itself at its times. Default: the machine's. */
  readonly clock?: Clock;
  /** Lines of JSON on standard error. Default: `gateway.logLevel`, also after a reload. */
  readonly logLevel?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Told of each thing that is wrong with the configuration. Default: a warning in the log. */
  readonly onProblem?: (problem: Problem) => void;
  /** Told when the gateway cannot go on, after it has stopped. Default: an error in the log. */
  readonly onFatal?: (error: Error) => void;
}

/** An embedded gateway with what its clients need. */
export interface EmbeddedGateway extends Gateway {
  /** The token that clients must present. */
  readonly token: string;
}

/**
 * Starts a gateway in this process; it listens, answers and keeps its promises as the service does.
 * @throws ConfigError where nothing can start, GatewayError where the home is held or the port is taken
 */
export async function createGateway(options: CreateGatewayOptions): Promise<EmbeddedGateway> {
  const env = options.env ?? process.env;
  const home = locateHome(options.home, env);
  const text = typeof options.config === "string" ? options.config : stringify(options.config ?? {});
  const loaded = loadConfig({ file: home.configFile, text, env, sources: secretSources(home, env) });
  prepareHome(home);
  const token = gatewayToken(loaded, home, env);
  const vault = openVault(loaded, env, token.value);
  const logger = createLogger(options.logLevel ?? loaded.config.gateway.logLevel, vault.redact);
  const channels = options.channels ?? [];
  const tools = options.tools ?? [];
  const { clock } = options;
  const resolved = await resolveConfig({ home, loaded, logger, env, channels, tools, vault });
  for (const problem of resolved.problems) {
    if (options.onProblem) options.onProblem(problem);
    else logger.warn({ problem: formatProblem(problem) }, "the configuration has a problem");
  }
  const starting = startGateway(
    {
      home,
      loaded,
      token,
      logger,
      ownLogLevel: options.logLevel !== undefined,
      vault,
      env,
      channels,
      tools,
      hooks: options.hooks ?? [],
      ...(clock === undefined ? {} : { clock, now: () => clock.now() }),
      consoleDir: ASSETS.consoleDir,
      onFatal: (error) => {
        logger.error({ err: error.message }, "the gateway is stopping");
        // May be called while the start is in progress. A failed start rejects this call as well.
        const stopped = starting.then((gateway) => gateway.stop());
        void stopped.then(
          () => options.onFatal?.(error),
          () => {},
        );
      },
    },
    resolved,
  );
  return { ...(await starting), token: token.value };
}
