import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

/** The workspace of an agent, opened when it is first needed: the same one as long as its folder is the same. */
export type AgentWorkspaces = (agent: { readonly workspaceDir: string }) => Promise<Workspace>;

/** The agents' own folders, for what a host itself reads there and puts there: no skills, nothing else of its own. */
export function createAgentWorkspaces(
  options: Pick<WorkspaceOptions, "forbidden" | "labels">,
): AgentWorkspaces {
  const open = new Map<string, Promise<Workspace>>();
  return ({ workspaceDir: dir }) => {
    const workspace = open.get(dir) ?? openWorkspace({ ...options, dir });
    open.set(dir, workspace);
    // A folder that is away now may be there the next time.
    workspace.catch(() => open.delete(dir));
    return workspace;
  };
}
