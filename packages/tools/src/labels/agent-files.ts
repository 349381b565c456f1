import type { KvStore } from "@signalbox/store/types";
import { createLabelStore } from "../persistence/labels.ts";
import { type AgentWorkspaces, createAgentWorkspaces } from "../workspace/agent-workspaces.ts";
import type { WorkspaceOptions } from "../workspace/workspace.ts";
import { type FileLabels, openFileLabels } from "./file-labels.ts";
import { createTrust, type Trust } from "./trust.ts";

/** The agents' workspaces and the labels of their files. */
export interface AgentFiles {
  readonly workspaces: AgentWorkspaces;
  readonly labels: FileLabels;
  /** Marks files as trusted on behalf of an owner. */
  readonly trust: Trust;
}

/**
 * Opens the agents' workspaces with the labels stored in `kv`.
 *
 * @param forbidden paths that are never read or written, even inside a workspace
 * @param isOwn returns false for folders that another process works in. Default: always true
 */
export async function openAgentFiles(
  kv: KvStore,
  forbidden: NonNullable<WorkspaceOptions["forbidden"]>,
  isOwn?: (folder: string) => boolean,
): Promise<AgentFiles> {
  const labels = await openFileLabels(createLabelStore(kv), isOwn);
  const workspaces = createAgentWorkspaces({ forbidden, labels });
  return { workspaces, labels, trust: createTrust(labels, workspaces) };
}
