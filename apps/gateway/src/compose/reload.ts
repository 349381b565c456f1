import { reasonOf } from "@signalbox/agent-core";
import type { LoadedConfig } from "@signalbox/config";
import type { ConfigurationState } from "@signalbox/protocol";
import {
  type Applied,
  changedAccounts,
  changedSections,
  keysForStart,
  mcpSettings,
  nextSetup,
  prepareWorkspaces,
} from "@signalbox/setup";
import type { ReadConfiguration, Reloaded } from "../gateway-options.ts";
import { type ResolvedConfig, resolveConfig } from "../resolve/resolve-config.ts";
import type { Parts } from "./surroundings.ts";

/** How long an account whose settings have changed may take to end what is under way, in milliseconds. */
const DRAIN_MS = 5_000;

export interface Reloading {
  /** Reads the configuration again and applies it by part, one change after the other. */
  reload(read: ReadConfiguration): Promise<Reloaded>;
  /** What of the file does not apply just now. */
  state(): ConfigurationState;
}

/** @param first what the gateway was started with */
export function createReload(parts: Parts, first: Applied<ResolvedConfig>): Reloading {
  const { options, opened } = parts;
  const { logger } = options;
  let applied = first;
  let state: ConfigurationState = { forStart: [], kept: [] };
  let last: Promise<unknown> = Promise.resolve();

  const apply = async (read: ReadConfiguration): Promise<Reloaded> => {
    const loaded = await read(applied.loaded.config);
    options.vault.add(loaded.secrets);
    const resolve = (of: LoadedConfig) => resolveConfig({ ...options, loaded: of });
    const { next, faulty, kept, problems } = await nextSetup(applied, loaded, resolve);
    for (const problem of problems)
      logger.warn({ problem: { ...problem } }, "the configuration has a problem");
    await prepareAgents(parts, next);
    const before = applied;
    parts.configuration.apply(next);
    applied = next;
    const accounts = await applyToParts(parts, before, next);
    await opened.audit.configuration(next.loaded.config, next.loaded.file);
    state = { forStart: keysForStart(first.loaded.config, next.loaded.config), kept: [...kept] };
    if (state.forStart.length > 0)
      logger.warn(
        { keys: state.forStart },
        "changed in the configuration, and of no effect before a restart",
      );
    if (kept.length > 0)
      logger.warn(
        { faulty, kept },
        "something is wrong in the configuration; these sections stay as they were, all that say who may do what together",
      );
    return {
      applied: changedSections(before.loaded.config, next.loaded.config),
      forStart: state.forStart,
      accounts,
      kept,
    };
  };

  const applyAndTell = async (read: ReadConfiguration): Promise<Reloaded> => {
    try {
      const reloaded = await apply(read);
      logger.info({ ...reloaded }, "the configuration was read again");
      return reloaded;
    } catch (error) {
      state = { ...state, kept: [applied.loaded.file] };
      logger.error({ err: reasonOf(error) }, "the configuration cannot be applied; what was before goes on");
      throw error;
    }
  };

  return {
    reload(read) {
      const reloaded = last.then(() => applyAndTell(read));
      last = reloaded.catch(() => undefined);
      return reloaded;
    },
    state: () => state,
  };
}

/** What agents of a configuration need on the disk. Where it cannot be had, the configuration before goes on. */
async function prepareAgents({ options }: Parts, { resolved }: Applied<ResolvedConfig>): Promise<void> {
  await prepareWorkspaces(options, resolved.agents);
  await resolved.skills.pinFirstSeen();
}

/**
 * Most parts look at the configuration whenever they need it; these have to be told. Gives the accounts that changed.
 */
async function applyToParts(
  { options: { logger }, surroundings, configuration }: Parts,
  before: Applied<ResolvedConfig>,
  next: Applied<ResolvedConfig>,
): Promise<readonly string[]> {
  const { resolved } = configuration;
  const { config } = next.loaded;
  const accounts = changedAccounts(before.resolved.accounts.planned, next.resolved.accounts.planned);
  resolved.web.configure(config);
  surroundings.mcp.configure(mcpSettings(config));
  const changed = changedSections(before.loaded.config, config);
  if (changed.includes("gateway")) logger.level = config.gateway.logLevel;
  await resolved.accounts.change(accounts, DRAIN_MS);
  await surroundings.heartbeats.configured();
  if (changed.includes("memory") || changed.includes("models")) await surroundings.memories.reopen();
  return accounts.names;
}
