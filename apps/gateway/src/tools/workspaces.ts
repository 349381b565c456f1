import type { Home } from "@signalbox/home";
import { type FileLabels, openWorkspace, type Workspace } from "@signalbox/tools";
import type { Agent } from "../resolve/agents.ts";

/** The agents' own folders, for what the gateway itself reads there and puts there: no skills, nothing of the home. */
export type Workspaces = (agent: Pick<Agent, "id" | "workspaceDir">) => Promise<Workspace>;

export function createWorkspaces(home: Home, labels: FileLabels): Workspaces {
  const open = new Map<string, Promise<Workspace>>();
  return (agent) => {
    const known = open.get(agent.id);
    if (known) return known;
    const made = openWorkspace({ dir: agent.workspaceDir, forbidden: home.closed, labels });
    open.set(agent.id, made);
    // A folder that is away now may be there the next time.
    made.catch(() => open.delete(agent.id));
    return made;
  };
}
