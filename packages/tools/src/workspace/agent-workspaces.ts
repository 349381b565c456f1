import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

/** The workspace of an agent, opened when it is first needed. */
export type AgentWorkspaces = (agent: {
  readonly id: string;
  readonly workspaceDir: string;
}) => Promise<Workspace>;

/** The agents' own folders, for what a host itself reads there and puts there: no skills, nothing else of its own. */
export function createAgentWorkspaces(
  options: Pick<WorkspaceOptions, "forbidden" | "labels">,
): AgentWorkspaces {
  const open = new Map<string, Promise<Workspace>>();
  return (agent) => {
    const workspace = open.get(agent.id) ?? openWorkspace({ ...options, dir: agent.workspaceDir });
    open.set(agent.id, workspace);
    // A folder that is away now may be there the next time.
    workspace.catch(() => open.delete(agent.id));
    return workspace;
  };
}
