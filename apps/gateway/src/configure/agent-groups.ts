import { realpathSync } from "node:fs";
import type { AgentGroup } from "@signalbox/home";
import { type Agent, isInside } from "./agents.ts";

/** Groups agents and shards whose workspaces are the same folder, or contain each other. */
export function groupByWorkspace(agents: readonly Agent[]): AgentGroup[] {
  let groups: { readonly agents: AgentGroup; readonly folders: readonly string[] }[] = [];
  for (const { shardId: id, nodes, workspaceDir } of agents) {
    const agent = { id, nodes };
    const folder = realFolder(workspaceDir);
    const overlapping = groups.filter(({ folders }) => folders.some((other) => overlap(folder, other)));
    const [first, ...rest] = overlapping;
    const joined = first && {
      agents: [...first.agents, ...rest.flatMap((group) => group.agents), agent] as const,
      folders: [...overlapping.flatMap(({ folders }) => folders), folder],
    };
    groups = [
      ...groups.filter((group) => !overlapping.includes(group)),
      joined ?? { agents: [agent], folders: [folder] },
    ];
  }
  return groups.map((group) => group.agents);
}

function realFolder(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return dir;
  }
}

function overlap(a: string, b: string): boolean {
  return isInside(a, b) || isInside(b, a);
}
