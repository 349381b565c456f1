import type { Item } from "../item.ts";
import { asRecord, asText } from "../settings.ts";
import type { SettingImport } from "../source.ts";

/** Programs that can run any other program, or that change more than their arguments show. */
const POWERFUL =
  /^(sh|bash|zsh|fish|dash|ksh|env|sudo|doas|su|find|xargs|git|ssh|scp|docker|podman|make|python[\d.]*|node|deno|bun|perl|ruby|php|lua|npm|npx|pnpm|yarn|pip[\d.]*|uv|cargo|go|brew|apt(-get)?|dnf|yum|awk|gawk|sed|tar|rsync|vim?|nano|less|tee|nohup|time|watch|parallel)$/;

/**
 * Converts the standing approvals of commands. Rules here apply to all agents, so those of one agent are imported only
 * if it is the only agent.
 */
export function mapExecApprovals(
  approvals: unknown,
  agents: readonly string[],
): { readonly imports: readonly SettingImport[]; readonly items: readonly Item[] } {
  const items: Item[] = [];
  const rules: string[] = [];
  const ids: string[] = [];
  const root = asRecord(approvals);
  for (const [agent, value] of Object.entries(asRecord(root?.["agents"]) ?? {})) {
    const list = asRecord(value)?.["allowlist"];
    for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
      const id = `exec-approvals/${agent}/${index}`;
      const rule = convertPattern(asRecord(entry) ?? {});
      const isForAll = agent === "*" || agents.length <= 1;
      if (rule === undefined || !isForAll) {
        const why =
          rule === undefined
            ? "Only plain commands without a pattern can be allowed here, and none that can run other commands."
            : "Rules apply to all agents here, and there are several.";
        items.push({
          part: "config",
          id,
          state: "unsupported",
          why: `${why} ${asText(asRecord(entry)?.["pattern"]) ?? ""}`,
        });
      } else {
        rules.push(rule);
        ids.push(id);
      }
    }
  }
  for (const [key, why] of [
    ["socket", "Meaningful only to OpenClaw."],
    ["defaults", "A part of agents.defaults.tools here."],
  ] as const)
    if (Object.keys(asRecord(root?.[key]) ?? {}).length > 0)
      items.push({ part: "config", id: `exec-approvals/${key}`, state: "skipped", why });
  return {
    imports:
      rules.length === 0
        ? []
        : [{ kind: "setting", ids, path: ["tools", "exec", "rules"], value: [...new Set(rules)] }],
    items,
  };
}

function convertPattern(entry: Readonly<Record<string, unknown>>): string | undefined {
  const pattern = asText(entry["pattern"]);
  if (pattern === undefined || entry["argPattern"] !== undefined || /[*?\s[\]{}]/.test(pattern))
    return undefined;
  const name = pattern.split("/").at(-1) ?? "";
  if (!/^[\w.+-]+$/.test(name) || POWERFUL.test(name)) return undefined;
  return `${name} **`;
}
