import type { ConfigPath } from "./problem.ts";

/** A value that replaces an invalid one. */
export interface Replacement {
  /** Relative to the section. */
  readonly path: ConfigPath;
  readonly value: unknown;
  /** True to replace only the keys of `value`. Default: false */
  readonly merges?: true | undefined;
}

/** Values of `retention` that remove nothing. A default could remove what an invalid setting was meant to keep. */
const KEEP_EVERYTHING: Readonly<Record<string, number>> = {
  hiddenMessagesDays: 36_500,
  inboxDays: 36_500,
  dedupeDays: 36_500,
  journalDays: 36_500,
  outboxDays: 36_500,
  tracesDays: 36_500,
  traces: 1_000_000_000,
  tracesMegabytes: 1_000_000,
  attachments: 1_000_000_000,
  attachmentsMegabytes: 1_000_000,
  databaseMegabytes: 1_000_000,
};

/**
 * Replacements for invalid settings whose default could allow more than was meant. `deep` applies the replacement to
 * invalid values and unknown keys anywhere below the keys, as a misspelled key may be a restriction. `depth` is the
 * number of keys to the value that is replaced. Default: all.
 */
const FAIL_CLOSED: readonly {
  readonly keys: ConfigPath;
  readonly value: unknown;
  readonly deep?: true;
  readonly depth?: number;
}[] = [
  {
    keys: ["agents", "defaults"],
    value: { tools: { allow: [] }, skills: { allow: [] }, heartbeat: { enabled: false } },
  },
  { keys: ["agents", "defaults", "tools"], value: { allow: [] }, deep: true },
  { keys: ["agents", "defaults", "skills"], value: { allow: [] }, deep: true },
  { keys: ["agents", "defaults", "subagents"], value: { maxDepth: 0 }, deep: true },
  { keys: ["agents", "defaults", "heartbeat"], value: { enabled: false }, deep: true },
  { keys: ["agents", "defaults", "limits"], value: { turns: 1 } },
  { keys: ["agents", "defaults", "limits", "*"], value: 1 },
  { keys: ["access"], value: { dm: "off", groups: { mode: "off" } } },
  { keys: ["access", "dm"], value: "off" },
  { keys: ["access", "groups"], value: { mode: "off" } },
  { keys: ["access", "groups", "mode"], value: "off" },
  { keys: ["access", "groups", "historyLimit"], value: 0 },
  { keys: ["access", "groups", "people"], value: "members" },
  { keys: ["access", "groups", "rules"], value: { mode: "off" }, depth: 2 },
  { keys: ["access", "groups", "rules", "*"], value: { people: "listed", tools: { allow: [] } }, deep: true },
  { keys: ["retention"], value: KEEP_EVERYTHING },
  ...Object.entries(KEEP_EVERYTHING).map(([key, value]) => ({ keys: ["retention", key], value })),
  { keys: ["memory"], value: { enabled: false } },
  { keys: ["memory", "enabled"], value: false },
  { keys: ["memory", "consolidate"], value: false },
  { keys: ["skills", "entries", "*"], value: { enabled: false } },
  { keys: ["skills", "entries", "*", "enabled"], value: false },
];

/**
 * Restrictive settings of mappings with an unknown key, which may be a misspelled restriction. Other settings of the
 * mapping stay, such as the owners.
 */
const CLOSED_BY_UNKNOWN_KEY: readonly { readonly keys: ConfigPath; readonly value: unknown }[] = [
  { keys: ["access"], value: { dm: "off", groups: { mode: "off" } } },
  { keys: ["access", "groups"], value: { mode: "off" } },
];

/**
 * Returns the restrictive replacement for a mapping with an unknown key, if the defaults of the mapping are permissive.
 *
 * @param path of the unknown key, from the top of the configuration
 * @param sectionLength how many steps of the path lead to the section
 */
export function getClosedMapping(path: ConfigPath, sectionLength: number): Replacement | undefined {
  const rule = CLOSED_BY_UNKNOWN_KEY.find(
    ({ keys }) => path.length === keys.length + 1 && keys.every((key, depth) => key === path[depth]),
  );
  if (rule !== undefined) return { path: rule.keys.slice(sectionLength), value: rule.value, merges: true };
  const replacement = getFailClosedValue(path, sectionLength);
  return replacement !== undefined && replacement.path.length < path.length - sectionLength
    ? replacement
    : undefined;
}

/** Returns the same for a mapping of a listed agent. Its settings are those of `agents.defaults`. */
export function getClosedMappingOfAgent(path: ConfigPath): Replacement | undefined {
  const defaults = ["agents", "defaults"];
  return getClosedMapping([...defaults, ...path], defaults.length);
}

/**
 * Returns the restrictive replacement for an invalid value, if its default would be permissive.
 *
 * @param path from the top of the configuration
 * @param sectionLength how many steps of the path lead to the section
 */
export function getFailClosedValue(path: ConfigPath, sectionLength: number): Replacement | undefined {
  const rule = FAIL_CLOSED.find(
    ({ keys, deep }) =>
      (deep === true ? path.length >= keys.length : path.length === keys.length) &&
      keys.every((key, depth) => key === "*" || key === path[depth]),
  );
  return rule && { path: path.slice(sectionLength, rule.depth ?? rule.keys.length), value: rule.value };
}
