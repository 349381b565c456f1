/** Tools that go together, in lists as `group:<name>`. */
export const TOOL_GROUPS: Readonly<Record<string, readonly string[]>> = {
  read: ["read", "ls", "find", "grep"],
  fs: ["read", "write", "edit", "apply_patch", "ls", "find", "grep"],
  runtime: ["exec", "process"],
  messaging: ["message", "ask_user"],
  web: ["web_fetch", "web_search"],
  media: ["image"],
  gateway: ["gateway"],
  automation: ["cron"],
  sessions: ["sessions_spawn", "sessions_send", "sessions_list", "sessions_history"],
  memory: ["memory_search", "memory_get", "memory_write", "memory_forget"],
  mcp: ["mcp__*"],
};

/** What an agent of a kind needs, in lists as `profile:<name>`. */
export const TOOL_PROFILES: Readonly<Record<string, readonly string[]>> = {
  minimal: ["read", "ls"],
  messaging: ["group:messaging", "read", "ls"],
  coding: ["group:fs", "group:runtime", "group:web", "message"],
  full: ["*"],
};

/** Whether a list names a tool. */
export function matchesAny(names: readonly string[], tool: string): boolean {
  return names.some((name) => matchesName(name, tool));
}

/**
 * Whether an entry of a list matches a tool: its name, `*` for every tool, a trailing `*` for every name with that
 * prefix, `group:<name>` or `profile:<name>`.
 */
function matchesName(name: string, tool: string): boolean {
  const several = severalOf(name);
  if (several !== undefined) return matchesAny(several, tool);
  if (name.endsWith("*")) return tool.startsWith(name.slice(0, -1));
  return name === tool;
}

/** The tools of a group or profile; none for one that does not exist, `undefined` for any other entry. */
function severalOf(entry: string): readonly string[] | undefined {
  const [kind, name] = [entry.slice(0, entry.indexOf(":")), entry.slice(entry.indexOf(":") + 1)];
  const all = kind === "group" ? TOOL_GROUPS : kind === "profile" ? TOOL_PROFILES : undefined;
  if (all === undefined) return undefined;
  return Object.hasOwn(all, name) ? all[name] : [];
}

/** A name in a list that matches no tool. */
export interface UnknownToolName {
  readonly name: string;
  /** Names that come near it, the nearest first. */
  readonly near: readonly string[];
}

const MOST_NEAR = 3;

/**
 * Finds the names in lists of a configuration that match no tool.
 * @param existing names of tools; `prefix*` for tools whose names are not known yet, such as those of a server
 */
export function checkToolNames(
  names: readonly string[],
  existing: readonly string[],
): readonly UnknownToolName[] {
  const several = [
    ...Object.keys(TOOL_GROUPS).map((name) => `group:${name}`),
    ...Object.keys(TOOL_PROFILES).map((name) => `profile:${name}`),
  ];
  const isKnown = (name: string): boolean =>
    name === "*" ||
    several.includes(name) ||
    existing.some((tool) => matchesName(name, tool) || matchesName(tool, name));
  return [...new Set(names)]
    .filter((name) => !isKnown(name))
    .map((name) => ({ name, near: nearest(name, [...existing, ...several]) }));
}

function nearest(name: string, candidates: readonly string[]): readonly string[] {
  const most = Math.max(2, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MOST_NEAR)
    .map(({ candidate }) => candidate);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a.charAt(i - 1) === b.charAt(j - 1) ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
