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

/** Options for a gateway inside another program. */
export interface CreateGatewayOptions {
  /** Folder for the database, the token and the workspaces. It is created if it does not exist. */
  readonly home: string;
  /** Configuration as the content of a `signalbox.yaml` file, or as the equivalent object. Default: no settings. */
  readonly config?: string | Readonly<Record<string, unknown>>;
  /** Variables for `${…}` references and vendors' keys. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Channels in addition to the built-in ones. */
  readonly channels?: readonly ChannelDefinition[];
  /** Tools in addition to the built-in ones. Each agent gets the tools in its `tools.allow`. */
  readonly tools?: readonly Tool[];
  /** Hooks of the host program. */
  readonly hooks?: readonly GatewayHook[];
  /** Clock for timestamps and timers. Default: the machine's. */
  readonly clock?: Clock;
  /**
   * Minimum level of log entries, written as JSON lines to standard error. Default: `gateway.logLevel`, even after a
   * reload.
   */
  readonly logLevel?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Called for each problem in the configuration. Default: logs a warning. */
  readonly onProblem?: (problem: Problem) => void;
  /** Called after the gateway has stopped because it cannot continue. Default: logs an error. */
  readonly onFatal?: (error: Error) => void;
}

/** An embedded gateway and the data that its clients need. */
export interface EmbeddedGateway extends Gateway {
  /** The token that clients must present. */
  readonly token: string;
}

/**
 * Starts a gateway in this process, with the same promises as the service.
 *
 * @throws ConfigError if the configuration is too broken to start with
 * @throws GatewayError if another gateway holds the home, or if the port is in use
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
        // `stop` may be called while the start is in progress. A failed start rejects this call as well.
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
