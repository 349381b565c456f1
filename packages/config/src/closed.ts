import type { ConfigPath } from "./problem.ts";

/** What stands for a wrong value where its default would allow more than was written. */
export interface Closed {
  readonly path: ConfigPath;
  readonly value: unknown;
}

/** For a wrong word about how long something is kept: a default could remove what was to stay. */
const KEPT: Readonly<Record<string, number>> = {
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
 * Values whose default could allow more than was meant, with what allows nothing; `deep`: whatever in them is wrong.
 */
const CLOSED: readonly { readonly keys: ConfigPath; readonly value: unknown; readonly deep?: true }[] = [
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
  { keys: ["retention"], value: KEPT },
  ...Object.entries(KEPT).map(([key, value]) => ({ keys: ["retention", key], value })),
  { keys: ["memory"], value: { enabled: false } },
  { keys: ["memory", "enabled"], value: false },
  { keys: ["memory", "consolidate"], value: false },
  { keys: ["skills", "entries", "*"], value: { enabled: false } },
  { keys: ["skills", "entries", "*", "enabled"], value: false },
];

/** What stands for a wrong value; the first `from` steps of the path lead to its section. */
export function closedFor(path: ConfigPath, from: number): Closed | undefined {
  const rule = CLOSED.find(
    ({ keys, deep }) =>
      (deep === true ? path.length >= keys.length : path.length === keys.length) &&
      keys.every((key, depth) => key === "*" || key === path[depth]),
  );
  return rule && { path: path.slice(from, rule.keys.length), value: rule.value };
}
