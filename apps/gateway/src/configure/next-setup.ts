import { isDeepStrictEqual } from "node:util";
import type { PlannedAccount } from "@signalbox/channel/accounts";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import type { Setup } from "./create-setup.ts";
import type { Applied } from "./live-config.ts";

/** A configuration that was read again. */
export interface NextSetup<Resolved extends Setup = Setup> {
  /** Of a section that is kept, what applied before. */
  readonly next: Applied<Resolved>;
  /** The sections in which something is wrong that does not apply already. */
  readonly faulty: readonly string[];
  /** Those, and the changed ones that stay as they were because of them. */
  readonly kept: readonly string[];
  /** Problems of settings that are not in effect. */
  readonly problems: readonly Problem[];
  /** Everything that is wrong in it. */
  readonly found: readonly Problem[];
}

/**
 * Together these say who may do what, so that they are changed together or not at all: a channel is not opened while
 * what narrows its agent is left out for a mistake.
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

/** Works out what is to apply next. */
export async function nextSetup<Resolved extends Setup>(
  before: Applied<Resolved>,
  loaded: LoadedConfig,
  resolve: (loaded: LoadedConfig) => Promise<Resolved>,
): Promise<NextSetup<Resolved>> {
  const resolved = await resolve(loaded);
  const problems = newProblems(before.resolved.problems, resolved.problems);
  const faulty = new Set(problems.filter(({ severity }) => severity === "error").map(sectionOf));
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

function sectionOf({ path }: Problem): string {
  return path.split(/[.[]/, 1)[0] ?? "";
}

/**
 * A configuration with some sections as they were, and with their problems as they were: a mistake that was kept out is
 * as new at the next reading as at this one. The section of no name is the whole file.
 */
function withSections(next: LoadedConfig, before: LoadedConfig, sections: ReadonlySet<string>): LoadedConfig {
  const isKept = (section: string): boolean => sections.has("") || sections.has(section);
  const kept = Object.entries(before.config).filter(([part]) => isKept(sectionName(part)));
  const problem: LoadedConfig["problem"] = (path, about) =>
    (isKept(String(path[0])) ? before : next).problem(path, about);
  const problems = [
    ...before.problems.filter((problem) => isKept(sectionOf(problem))),
    ...next.problems.filter((problem) => !isKept(sectionOf(problem))),
  ];
  return { ...next, problem, problems, config: { ...next.config, ...Object.fromEntries(kept) } };
}

/** The sections that are not as they were. */
export function changedSections(before: Config, next: Config): string[] {
  const was = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(next).flatMap(([part, value]) =>
    isDeepStrictEqual(was.get(part), value) ? [] : [sectionName(part)],
  );
  return [...new Set(changed)];
}

/** Of two parts that stand in one section of the file, the second is called otherwise. */
function sectionName(part: string): string {
  return part === "pointHooks" ? "hooks" : part;
}

/** Settings that apply only after a restart. */
const AT_START = ["host", "port", "auth", "inboxLimit"] as const;

/** The keys whose change counts from the next start on, as the file has them. */
export function keysForStart(started: Config, next: Config): string[] {
  return AT_START.filter((key) => !isDeepStrictEqual(started.gateway[key], next.gateway[key])).map((key) =>
    key === "auth" ? "gateway.auth.token" : `gateway.${key}`,
  );
}

/** Accounts to start, stop or restart. */
export interface ChangedAccounts {
  readonly remove: readonly { readonly channel: string; readonly account: string }[];
  /** New ones, and those whose settings are others: in the place of what ran under their name. */
  readonly add: readonly PlannedAccount[];
  /** Of all of them, `channel/account`. */
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
