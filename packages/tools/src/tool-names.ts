/** Groups of related tools. Lists of tool names refer to them as `group:<name>`. */
export const TOOL_GROUPS: Readonly<Record<string, readonly string[]>> = {
  read: ["read", "ls", "find", "grep"],
  fs: ["read", "write", "edit", "apply_patch", "ls", "find", "grep"],
  runtime: ["exec", "process"],
  messaging: ["message", "ask_user"],
  web: ["web_fetch", "web_search"],
  browser: [
    "browser_navigate",
    "browser_back",
    "browser_snapshot",
    "browser_screenshot",
    "browser_click",
    "browser_type",
    "browser_select",
    "browser_press_key",
    "browser_dialog",
    "browser_tabs",
    "browser_wait",
    "browser_downloads",
    "browser_save_download",
  ],
  media: ["image", "generate_image"],
  gateway: ["gateway"],
  automation: ["cron"],
  sessions: ["sessions_spawn", "sessions_send", "sessions_list", "sessions_history"],
  memory: ["memory_search", "memory_get", "memory_write", "memory_forget"],
  mcp: ["mcp__*"],
};

/** The tools for one type of agent. Lists of tool names refer to them as `profile:<name>`. */
export const TOOL_PROFILES: Readonly<Record<string, readonly string[]>> = {
  minimal: ["read", "ls"],
  messaging: ["group:messaging", "read", "ls"],
  coding: ["group:fs", "group:runtime", "group:web", "message"],
  full: ["*"],
};

/**
 * Returns true if a list contains a tool. Entries are names, `*` for every tool, `prefix*`, `group:<name>` and
 * `profile:<name>`.
 */
export function matchesAny(entries: readonly string[], tool: string): boolean {
  return entries.some((entry) => matches(entry, tool));
}

function matches(entry: string, tool: string): boolean {
  const expanded = expand(entry);
  if (expanded !== undefined) return matchesAny(expanded, tool);
  if (entry.endsWith("*")) return tool.startsWith(entry.slice(0, -1));
  return entry === tool;
}

/**
 * Returns the tools of a group or profile, an empty list if the group or profile does not exist, and undefined for any
 * other entry.
 */
function expand(entry: string): readonly string[] | undefined {
  const [kind, name] = [entry.slice(0, entry.indexOf(":")), entry.slice(entry.indexOf(":") + 1)];
  const all = kind === "group" ? TOOL_GROUPS : kind === "profile" ? TOOL_PROFILES : undefined;
  if (all === undefined) return undefined;
  return Object.hasOwn(all, name) ? all[name] : [];
}

const SHORTHANDS: readonly string[] = [
  ...Object.keys(TOOL_GROUPS).map((name) => `group:${name}`),
  ...Object.keys(TOOL_PROFILES).map((name) => `profile:${name}`),
];

/**
 * Returns the names in the configuration's lists that match no tool. Each name is returned once.
 *
 * @param existing names of tools. Use `prefix*` for tools whose names are not known yet, such as tools from an MCP
 * server.
 */
export function findUnknownToolNames(
  names: readonly string[],
  existing: readonly string[],
): readonly string[] {
  const isKnown = (name: string): boolean =>
    name === "*" ||
    SHORTHANDS.includes(name) ||
    existing.some((tool) => matches(name, tool) || matches(tool, name));
  return [...new Set(names)].filter((name) => !isKnown(name));
}

/** Returns all valid entries of a list of tool names: the tools, groups and profiles. */
export function listToolNames(existing: readonly string[]): readonly string[] {
  return [...existing, ...SHORTHANDS];
}
