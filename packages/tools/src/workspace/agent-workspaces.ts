import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

/** Returns the workspace of an agent. Opened at first use, and again if the agent's folder changes. */
export type AgentWorkspaces = (agent: { readonly workspaceDir: string }) => Promise<Workspace>;

/** Creates the function that opens the agents' workspaces for the host itself, without folders of skills. */
export function createAgentWorkspaces(
  options: Pick<WorkspaceOptions, "forbidden" | "labels">,
): AgentWorkspaces {
  const open = new Map<string, Promise<Workspace>>();
  return ({ workspaceDir: dir }) => {
    const workspace = open.get(dir) ?? openWorkspace({ ...options, dir });
    open.set(dir, workspace);
    // Retry at the next call, for example after a missing folder was mounted.
    workspace.catch(() => open.delete(dir));
    return workspace;
  };
}
