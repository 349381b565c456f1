import { ConfigError, formatProblem, type Problem } from "@signalbox/config";
import { GatewayError, gatewayToken, locateHome, openVault, prepareHome, readConfig } from "@signalbox/home";
import { ASSETS } from "../assets.ts";
import { messageOf } from "../errors.ts";
import { startGateway } from "../gateway.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import { createLogger } from "../log.ts";
import { resolveConfig } from "../resolve/resolve-config.ts";
import type { CommonOptions } from "./common-options.ts";
import { releaseIdleMemory } from "./idle-memory.ts";

/** What a program that starts the gateway as the command does may set besides. */
export type Tuning = Pick<GatewayOptions, "drafts" | "instrument" | "leaseMs">;

/** `signalbox start`: runs until SIGTERM or SIGINT; a second signal ends it at once. */
export async function start(
  options: CommonOptions & { readonly strict?: boolean },
  tuning: Tuning = {},
): Promise<void> {
  const home = locateHome(options.home, process.env);
  prepareHome(home);
  const loaded = configOrExit(() => readConfig(home, process.env));
  const { host } = loaded.config.gateway;
  const token = gatewayToken(loaded, home, process.env);
  const vault = openVault(loaded, process.env, token.value);
  const logger = createLogger(loaded.config.gateway.logLevel, vault.redact);

  const resolved = await resolveConfig({ home, loaded, logger, env: process.env, vault });
  report(resolved.problems, vault.redact);
  if (options.strict === true && resolved.problems.some((problem) => problem.severity === "error")) {
    throw new GatewayError(
      "config",
      "Not started, since --strict was given and the configuration has errors.",
    );
  }
  const fatal = Promise.withResolvers<Error>();
  const gateway = await startGateway(
    {
      home,
      loaded,
      token,
      logger,
      vault,
      env: process.env,
      consoleDir: ASSETS.consoleDir,
      onFatal: fatal.resolve,
      ...tuning,
    },
    resolved,
  );
  const lines = [
    `Signalbox listens on ${gateway.url} (host ${host}), home ${home.dir}`,
    ...(token.isNew ? [`Your token, shown once and kept in ${home.tokenFile}: ${token.value}`] : []),
    ...(gateway.demo
      ? [
          "No model key is set: the offline demo model answers. `signalbox init` sets up a model and a channel; or set ANTHROPIC_API_KEY or another, or models.providers.",
        ]
      : []),
  ];
  process.stderr.write(`${lines.join("\n")}\n`);

  releaseIdleMemory();
  const signal = Promise.withResolvers<undefined>();
  const onSignal = (): void => {
    signal.resolve(undefined);
    process.once("SIGINT", () => process.exit(130));
  };
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, onSignal);
  const error = await Promise.race([signal.promise, fatal.promise]);
  logger.info({ reason: error ? messageOf(error) : "signal" }, "stopping");
  await gateway.stop();
  if (error) throw new GatewayError("failure", `Stopped: ${messageOf(error)}.`);
}

/** Reads the configuration; where nothing can start, every problem is one line and the exit code says so. */
export function configOrExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new GatewayError("config", error.message, { cause: error });
  }
}

function report(problems: readonly Problem[], redact: (text: string) => string): void {
  for (const problem of problems)
    process.stderr.write(redact(`${problem.severity}: ${formatProblem(problem)}\n`));
}
