import { mcpSettings } from "../agent/mcp-servers.ts";
import { prepareWorkspaces } from "../agent/workspaces.ts";
import type { Applied } from "../configure/live-setup.ts";
import { changedAccounts, changedSections } from "../configure/next-setup.ts";
import { Reloading } from "../configure/reload.ts";
import { type ResolvedConfig, resolveConfig } from "../configure/resolve-config.ts";
import type { Parts } from "./surroundings.ts";

/** How long an account whose settings have changed may take to end what is under way, in milliseconds. */
const DRAIN_MS = 5_000;

/** @param first what the gateway was started with */
export function createReloading(parts: Parts, first: Applied<ResolvedConfig>): Reloading<ResolvedConfig> {
  const { options, opened, configuration } = parts;
  return new Reloading(first, {
    configuration,
    resolve: (loaded) => resolveConfig({ ...options, loaded }),
    async prepare({ agents, skills }) {
      await prepareWorkspaces(options, agents);
      await skills.pinFirstSeen();
    },
    tell: (before, next) => applyToParts(parts, before, next),
    record: (config, file) => opened.audit.configuration(config, file),
    vault: options.vault,
    logger: options.logger,
  });
}

/** Most parts look at the configuration whenever they need it; these have to be told. */
async function applyToParts(
  { options: { logger, ownLogLevel = false }, surroundings, configuration }: Parts,
  before: Applied<ResolvedConfig>,
  next: Applied<ResolvedConfig>,
): Promise<readonly string[]> {
  const { resolved } = configuration;
  const { config } = next.loaded;
  const accounts = changedAccounts(before.resolved.accounts.planned, next.resolved.accounts.planned);
  resolved.web.configure(config);
  surroundings.mcp.configure(mcpSettings(config));
  const changed = changedSections(before.loaded.config, config);
  const { logLevel } = config.gateway;
  if (!ownLogLevel && logLevel !== before.loaded.config.gateway.logLevel) logger.level = logLevel;
  await resolved.accounts.change(accounts, DRAIN_MS);
  await surroundings.heartbeats.configured();
  if (changed.includes("memory") || changed.includes("models")) surroundings.memories.reopen();
  return accounts.names;
}
