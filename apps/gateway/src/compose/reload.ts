import type { LoadedConfig } from "@signalbox/config";
import { prepareWorkspace } from "@signalbox/home";
import { type Applied, changedAccounts, changedSections, type LiveSetup, nextSetup } from "@signalbox/setup";
import { messageOf } from "../errors.ts";
import type { GatewayOptions, Reloaded } from "../gateway-options.ts";
import { type ResolvedConfig, resolveConfig } from "../resolve/resolve-config.ts";
import type { OpenHome } from "./open-home.ts";
import type { Surroundings } from "./surroundings.ts";

/** Sections that apply while the gateway runs; the others count at its next start. */
const APPLIED_AT_ONCE: ReadonlySet<string> = new Set([
  "models",
  "agents",
  "channels",
  "bindings",
  "session",
  "access",
  "budgets",
  "skills",
]);

/** How long an account whose settings have changed may take to end what is under way, in milliseconds. */
const DRAIN_MS = 5_000;

/** Reads the configuration again and applies it by part, one change after the other. */
export function createReload(
  options: GatewayOptions,
  first: Applied<ResolvedConfig>,
  live: LiveSetup<ResolvedConfig>,
  { audit, heartbeats }: Pick<OpenHome, "audit"> & Pick<Surroundings, "heartbeats">,
): (read: () => LoadedConfig) => Promise<Reloaded> {
  const { logger, home } = options;
  let applied = first;
  let last: Promise<unknown> = Promise.resolve();

  const apply = async (read: () => LoadedConfig): Promise<Reloaded> => {
    const loaded = read();
    options.vault.add(loaded.secrets);
    const resolve = (of: LoadedConfig) => resolveConfig({ ...options, loaded: of });
    const { next, kept, problems } = await nextSetup(applied, loaded, resolve);
    for (const problem of problems)
      logger.warn({ problem: { ...problem } }, "the configuration has a problem");
    const changed = changedSections(applied.loaded.config, next.loaded.config);
    for (const { id, workspaceDir } of next.resolved.agents.all)
      if (workspaceDir === home.workspace(id)) prepareWorkspace(workspaceDir);
    await next.resolved.skills.pinFirstSeen();
    const accounts = changedAccounts(applied.resolved.accounts.planned, next.resolved.accounts.planned);
    applied = next;
    live.apply(next);
    await live.resolved.accounts.change(accounts, DRAIN_MS);
    await heartbeats.configured();
    await audit.configuration(next.loaded.config, next.loaded.file);
    return {
      applied: changed.filter((section) => APPLIED_AT_ONCE.has(section)),
      atNextStart: changed.filter((section) => !APPLIED_AT_ONCE.has(section)),
      accounts: accounts.names,
      kept,
    };
  };

  const applyAndTell = async (read: () => LoadedConfig): Promise<Reloaded> => {
    try {
      const reloaded = await apply(read);
      logger.info({ ...reloaded }, "the configuration was read again");
      return reloaded;
    } catch (error) {
      logger.error({ err: messageOf(error) }, "the configuration cannot be applied; what was before goes on");
      throw error;
    }
  };

  return (read) => {
    const reloaded = last.then(() => applyAndTell(read));
    last = reloaded.catch(() => undefined);
    return reloaded;
  };
}
