import { formatProblem } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { HealthFinding } from "@signalbox/protocol";
import type { Vault } from "@signalbox/redaction";
import { createLogFile, createLogger, serviceLogger } from "@signalbox/telemetry/logger";
import { ASSETS } from "./assets.ts";
import type { ConfiguredHome, Logging, PreparedGateway } from "./cli/host.ts";
import { resolveConfig } from "./configure/resolve-config.ts";
import { startGateway } from "./gateway.ts";
import type { GatewayOptions } from "./gateway-options.ts";

/** Options for programs that start the gateway in the same way as the command. */
export type Tuning = Pick<GatewayOptions, "drafts" | "instrument" | "leaseMs">;

/** Checks the machine and the stored data in the same way as `signalbox doctor`. */
async function checkHome(home: Home): Promise<readonly HealthFinding[]> {
  const [{ checkMachine }, { checkStoredData }] = await Promise.all([
    import("./cli/doctor/machine.ts"),
    import("./cli/doctor/stored.ts"),
  ]);
  const findings = [...(await checkMachine(home, Date.now)), ...(await checkStoredData(home, Date.now))];
  return findings.map(({ part, state, detail, remedy }) => ({ part, state, detail, remedy }));
}

/** Resolves a configuration without starting anything. */
export async function prepare(
  configured: ConfiguredHome,
  vault: Vault,
  { level, isQuiet = false }: Logging,
  tuning: Tuning,
): Promise<PreparedGateway> {
  const { logFile } = configured.home;
  const file = createLogFile(logFile);
  const logger =
    level === "silent"
      ? createLogger(level, vault.redact)
      : isQuiet
        ? createLogger(level, vault.redact, file)
        : serviceLogger(level, vault.redact, file);
  const resolved = await resolveConfig({ ...configured, logger, vault });
  return {
    setup: resolved,
    async start({ token, onFatal }) {
      const { consoleDir } = ASSETS;
      const options = {
        ...configured,
        ...tuning,
        token,
        logger,
        vault,
        consoleDir,
        onFatal,
        readsConfigFile: true,
        checkHome: () => checkHome(configured.home),
      };
      const gateway = await startGateway(options, resolved);
      // The command has already printed the problems.
      const inFile = createLogger(level, vault.redact, file);
      for (const problem of resolved.problems)
        inFile.warn({ problem: formatProblem(problem) }, "the configuration has a problem");
      logger.info({ url: gateway.url }, "started");
      return {
        url: gateway.url,
        reload: async (read) => {
          // Settings that are not in effect are logged.
          await gateway.reload(read).catch(() => undefined);
        },
        async stop(reason) {
          logger.info({ reason }, "stopping");
          await gateway.stop();
        },
      };
    },
  };
}
