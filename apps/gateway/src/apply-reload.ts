import { mcpSettings } from "./agent/mcp-servers.ts";
import type { Applied } from "./configure/live-config.ts";
import { changedAccounts, changedSections } from "./configure/next-setup.ts";
import { Reloading } from "./configure/reload.ts";
import { type ResolvedConfig, resolveConfig } from "./configure/resolve-config.ts";
import { prepareWorkspaces } from "./configure/workspaces.ts";
import type { GatewayContext } from "./context.ts";

/** Time limit for an account with changed settings to complete pending operations, in milliseconds. */
const DRAIN_MS = 5_000;

/** @param first the configuration that the gateway started with */
export function createReloading(
  ctx: GatewayContext,
  first: Applied<ResolvedConfig>,
): Reloading<ResolvedConfig> {
  const { options, config, audit } = ctx;
  return new Reloading(first, {
    live: config,
    resolve: (loaded) => resolveConfig({ ...options, loaded }),
    async prepare({ agents, skills }) {
      await prepareWorkspaces(options, agents);
      await skills.pinFirstSeen(ctx.skillPins);
    },
    tell: (before, next) => applyReload(ctx, before, next),
    record: (settings, file) => audit.configuration(settings, file),
    vault: options.vault,
    logger: options.logger,
  });
}

/**
 * Applies a new configuration to the services that do not read it on each use.
 *
 * @returns the accounts that changed, as `channel/account`
 */
async function applyReload(
  ctx: GatewayContext,
  before: Applied<ResolvedConfig>,
  next: Applied<ResolvedConfig>,
): Promise<readonly string[]> {
  const { logger, ownLogLevel = false } = ctx.options;
  const settings = next.loaded.config;
  const accounts = changedAccounts(before.resolved.accounts.planned, next.resolved.accounts.planned);
  ctx.web.configure(settings);
  ctx.mcp.configure(mcpSettings(settings));
  const changed = changedSections(before.loaded.config, settings);
  const { logLevel } = settings.gateway;
  if (!ownLogLevel && logLevel !== before.loaded.config.gateway.logLevel) logger.level = logLevel;
  await ctx.accounts.change(accounts, DRAIN_MS);
  await ctx.heartbeats.configured();
  if (changed.includes("memory") || changed.includes("models")) ctx.memories.reopen();
  return accounts.names;
}
