import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

/** Returns an agent's workspace. The workspace is opened on first use, and again if the agent's folder changes. */
export type AgentWorkspaces = (agent: { readonly workspaceDir: string }) => Promise<Workspace>;

/** Creates the function that opens the agents' workspaces for the host itself, without skill folders. */
export function createAgentWorkspaces(
  options: Pick<WorkspaceOptions, "forbidden" | "labels">,
): AgentWorkspaces {
  const open = new Map<string, Promise<Workspace>>();
  return ({ workspaceDir: dir }) => {
    const workspace = open.get(dir) ?? openWorkspace({ ...options, dir });
    open.set(dir, workspace);
    // Retry on the next call, for example after a missing folder was mounted.
    workspace.catch(() => open.delete(dir));
    return workspace;
  };
}
