import { isDeepStrictEqual } from "node:util";
import type { PlannedAccount } from "@signalbox/channel/accounts";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import type { Setup } from "./create-setup.ts";
import type { Applied } from "./live-config.ts";

/** The setup based on a reloaded configuration file. */
export interface NextSetup<Resolved extends Setup = Setup> {
  /** The configuration to apply. Sections that are kept have their previous values. */
  readonly next: Applied<Resolved>;
  /** Sections with new errors. */
  readonly faulty: readonly string[];
  /** The faulty sections, and the changed sections that are kept because of them. */
  readonly kept: readonly string[];
  /** Problems in settings that are not in effect. */
  readonly problems: readonly Problem[];
  /** All problems in the file. */
  readonly found: readonly Problem[];
}

/**
 * Sections that define permissions. They change either together or not at all, so that an error in an agent's
 * restrictions cannot open a channel.
 */
const POLICY = [
  "agents",
  "channels",
  "bindings",
  "session",
  "access",
  "hooks",
  "tools",
  "mcp",
  "budgets",
  "skills",
];

/** Computes the next setup from the previous one and the reloaded file. */
export async function nextSetup<Resolved extends Setup>(
  before: Applied<Resolved>,
  loaded: LoadedConfig,
  resolve: (loaded: LoadedConfig) => Promise<Resolved>,
): Promise<NextSetup<Resolved>> {
  const resolved = await resolve(loaded);
  const problems = newProblems(before.resolved.problems, resolved.problems);
  const faulty = new Set(problems.filter(({ severity }) => severity === "error").map(getSection));
  const found = resolved.problems;
  if (faulty.size === 0) return { next: { loaded, resolved }, faulty: [], kept: [], problems, found };
  const changed = changedSections(before.loaded.config, loaded.config);
  const isPolicyFaulty = POLICY.some((section) => faulty.has(section));
  const withThem = isPolicyFaulty ? changed.filter((section) => POLICY.includes(section)) : [];
  const kept = new Set([...faulty, ...withThem]);
  const mended = withSections(loaded, before.loaded, kept);
  return {
    next: { loaded: mended, resolved: await resolve(mended) },
    faulty: [...faulty],
    kept: [...kept],
    problems,
    found,
  };
}

function newProblems(before: readonly Problem[], now: readonly Problem[]): Problem[] {
  const told = new Set(before.map(({ path, message }) => `${path} ${message}`));
  return now.filter(({ path, message }) => !told.has(`${path} ${message}`));
}

function getSection({ path }: Problem): string {
  return path.split(/[.[]/, 1)[0] ?? "";
}

/**
 * Returns a configuration in which some sections and their problems are replaced with the previous ones, so that a
 * repeated error is reported as new until it is fixed. An empty section name represents the whole file.
 */
function withSections(next: LoadedConfig, before: LoadedConfig, sections: ReadonlySet<string>): LoadedConfig {
  const isKept = (section: string): boolean => sections.has("") || sections.has(section);
  const kept = Object.entries(before.config).filter(([part]) => isKept(sectionName(part)));
  const problem: LoadedConfig["problem"] = (path, about) =>
    (isKept(String(path[0])) ? before : next).problem(path, about);
  const problems = [
    ...before.problems.filter((problem) => isKept(getSection(problem))),
    ...next.problems.filter((problem) => !isKept(getSection(problem))),
  ];
  return { ...next, problem, problems, config: { ...next.config, ...Object.fromEntries(kept) } };
}

/** Returns the names of changed sections. */
export function changedSections(before: Config, next: Config): string[] {
  const was = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(next).flatMap(([part, value]) =>
    isDeepStrictEqual(was.get(part), value) ? [] : [sectionName(part)],
  );
  return [...new Set(changed)];
}

/** Returns the section name in the file for a configuration key. Two keys share the section `hooks`. */
function sectionName(part: string): string {
  return part === "pointHooks" ? "hooks" : part;
}

/** Returns the value of each setting that takes effect on the next start, by its key in the file. */
const SETTINGS_FOR_START: Readonly<Record<string, (config: Config) => unknown>> = {
  "gateway.host": ({ gateway }) => gateway.host,
  "gateway.port": ({ gateway }) => gateway.port,
  "gateway.inboxLimit": ({ gateway }) => gateway.inboxLimit,
  "gateway.auth.token": ({ gateway }) => gateway.auth.token,
  "store.url": ({ store }) => store.url,
  "store.hints": ({ store }) => store.hints,
  "store.blobs": ({ store }) => store.blobs,
  "telemetry.otlp": ({ telemetry }) => telemetry,
};

/** Keys that take effect on the next start, as they are named in the file. All others take effect at once. */
export const KEYS_FOR_START: readonly string[] = Object.keys(SETTINGS_FOR_START);

/** Returns the changed keys that take effect on the next start, as they are named in the file. */
export function keysForStart(started: Config, next: Config): string[] {
  return Object.entries(SETTINGS_FOR_START).flatMap(([key, read]) =>
    isDeepStrictEqual(read(started), read(next)) ? [] : [key],
  );
}

/** Accounts to start, stop or restart after a reload. */
export interface ChangedAccounts {
  readonly remove: readonly { readonly channel: string; readonly account: string }[];
  /** New accounts, and accounts with changed settings, which replace the running ones. */
  readonly add: readonly PlannedAccount[];
  /** Names of all changed accounts, as `channel/account`. */
  readonly names: readonly string[];
}

export function changedAccounts(
  before: readonly PlannedAccount[],
  next: readonly PlannedAccount[],
): ChangedAccounts {
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
