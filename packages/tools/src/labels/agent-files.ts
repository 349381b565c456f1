import type { KeyValues } from "../persistence/key-values.ts";
import { createLabelStore } from "../persistence/labels.ts";
import { type AgentWorkspaces, createAgentWorkspaces } from "../workspace/agent-workspaces.ts";
import type { WorkspaceOptions } from "../workspace/workspace.ts";
import { type FileLabels, openFileLabels } from "./file-labels.ts";
import { createTrust, type Trust } from "./trust.ts";

/** The folders of agents, with what is known of whose words the files in them hold. */
export interface AgentFiles {
  readonly workspaces: AgentWorkspaces;
  readonly labels: FileLabels;
  /** How an owner vouches for a file. */
  readonly trust: Trust;
}

/** Opens them with the labels that are kept in `kv`; no file of a `forbidden` place is read or written. */
export async function openAgentFiles(
  kv: KeyValues,
  forbidden: NonNullable<WorkspaceOptions["forbidden"]>,
): Promise<AgentFiles> {
  const labels = await openFileLabels(createLabelStore(kv));
  const workspaces = createAgentWorkspaces({ forbidden, labels });
  return { workspaces, labels, trust: createTrust(labels, workspaces) };
}
