import { isDeepStrictEqual } from "node:util";
import type { PlannedAccount } from "@signalbox/channel/accounts";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import { prepareWorkspace } from "@signalbox/home";
import { messageOf } from "../errors.ts";
import type { GatewayOptions, Reloaded } from "../gateway-options.ts";
import { type ResolvedConfig, resolveConfig } from "../resolve/resolve-config.ts";
import type { Applied, LiveConfig } from "./live-config.ts";
import type { OpenHome } from "./open-home.ts";

/** Sections that apply while the gateway runs; the others count at its next start. */
const APPLIED_AT_ONCE: ReadonlySet<keyof Config> = new Set([
  "models",
  "agents",
  "channels",
  "bindings",
  "session",
  "access",
  "skills",
] as const);

/** How long an account whose settings have changed may take to end what is under way, in milliseconds. */
const DRAIN_MS = 5_000;

/** Reads the configuration again and applies it by part, one change after the other. */
export function createReload(
  options: GatewayOptions,
  first: Applied,
  live: LiveConfig,
  { audit }: Pick<OpenHome, "audit">,
): (read: () => LoadedConfig) => Promise<Reloaded> {
  const { logger, home } = options;
  let applied = first;
  let last: Promise<unknown> = Promise.resolve();

  const apply = async (read: () => LoadedConfig): Promise<Reloaded> => {
    const { next, kept } = await readNext(options, applied, read);
    const changed = changedSections(applied.loaded.config, next.loaded.config);
    for (const { id, workspaceDir } of next.resolved.agents.all)
      if (workspaceDir === home.workspace(id)) prepareWorkspace(workspaceDir);
    await next.resolved.skills.pinFirstSeen();
    const accounts = changedAccounts(applied.resolved.accounts.planned, next.resolved.accounts.planned);
    applied = next;
    live.apply(next);
    await live.resolved.accounts.change(accounts, DRAIN_MS);
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

/** What is to apply next: of a section in which something is newly wrong, what applied before. */
async function readNext(
  options: GatewayOptions,
  before: Applied,
  read: () => LoadedConfig,
): Promise<{ readonly next: Applied; readonly kept: readonly string[] }> {
  const loaded = read();
  options.vault.add(loaded.secrets);
  const resolve = (of: LoadedConfig): Promise<ResolvedConfig> => resolveConfig({ ...options, loaded: of });
  const resolved = await resolve(loaded);
  const problems = newProblems(before.resolved.problems, resolved.problems);
  for (const problem of problems)
    options.logger.warn({ problem: { ...problem } }, "the configuration has a problem");
  const broken = new Set(problems.filter(({ severity }) => severity === "error").map(sectionOf));
  if (broken.size === 0) return { next: { loaded, resolved }, kept: [] };
  const mended = withSections(loaded, before.loaded, broken);
  return { next: { loaded: mended, resolved: await resolve(mended) }, kept: [...broken] };
}

function newProblems(before: readonly Problem[], now: readonly Problem[]): Problem[] {
  const told = new Set(before.map(({ path, message }) => `${path} ${message}`));
  return now.filter(({ path, message }) => !told.has(`${path} ${message}`));
}

function sectionOf({ path }: Problem): string {
  return path.split(/[.[]/, 1)[0] ?? "";
}

/** A configuration with some sections as they were. */
function withSections(next: LoadedConfig, before: LoadedConfig, sections: ReadonlySet<string>): LoadedConfig {
  const isKept = (section: string): boolean => sections.has(section) || sections.has("");
  const of = <Section extends keyof Config>(section: Section): Config[Section] =>
    (isKept(section) ? before : next).config[section];
  return {
    ...next,
    bindingPlaces: isKept("bindings") ? before.bindingPlaces : next.bindingPlaces,
    config: {
      gateway: of("gateway"),
      models: of("models"),
      agents: of("agents"),
      channels: of("channels"),
      bindings: of("bindings"),
      session: of("session"),
      replies: of("replies"),
      access: of("access"),
      hooks: of("hooks"),
      tools: of("tools"),
      mcp: of("mcp"),
      links: of("links"),
      retention: of("retention"),
      memory: of("memory"),
      skills: of("skills"),
    },
  };
}

function changedSections(before: Config, next: Config): (keyof Config)[] {
  const sections: readonly (keyof Config)[] = [
    ...APPLIED_AT_ONCE,
    ...(["gateway", "replies", "hooks", "tools", "mcp", "links", "retention", "memory"] as const),
  ];
  return sections.filter((section) => !isDeepStrictEqual(before[section], next[section]));
}

function changedAccounts(before: readonly PlannedAccount[], next: readonly PlannedAccount[]) {
  const nameOf = ({ definition, account }: PlannedAccount): string => `${definition.id}/${account}`;
  const now = new Map(next.map((planned) => [nameOf(planned), planned]));
  const old = new Map(before.map((planned) => [nameOf(planned), planned]));
  const gone = before.filter((planned) => !now.has(nameOf(planned)));
  const add = next.filter((planned) => {
    const was = old.get(nameOf(planned));
    return was?.definition !== planned.definition || !isDeepStrictEqual(was.config, planned.config);
  });
  return {
    remove: gone.map(({ definition, account }) => ({ channel: definition.id, account })),
    add,
    names: [...gone, ...add].map(nameOf),
  };
}
