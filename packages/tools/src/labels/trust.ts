import { join } from "node:path";
import { INBOX_FOLDER } from "../files/places.ts";
import type { AgentWorkspaces } from "../workspace/agent-workspaces.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import type { FileLabels } from "./file-labels.ts";

/** What came of an owner's word that a file of a workspace may be believed. */
export type Trusted =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string };

/** Takes the label of a file or folder away: an owner vouches for it, and for all that is in it now. */
export type Trust = (agent: Parameters<AgentWorkspaces>[0], path: string) => Promise<Trusted>;

export function createTrust(labels: FileLabels, workspaces: AgentWorkspaces): Trust {
  return async (agent, path) => {
    try {
      const workspace = await workspaces(agent);
      const shown = await workspace.locate(path);
      const place = join(workspace.dir, shown);
      if (shown === INBOX_FOLDER || shown.startsWith(`${INBOX_FOLDER}/`))
        return refused(`${shown} came with a message. Copy it out of ${INBOX_FOLDER}/ and trust the copy.`);
      const label = labels.of(place);
      const inside = labels.below(place).map((each) => each.path);
      if (label === undefined && inside.length === 0) return refused(`${shown} holds nothing of others.`);
      if (label !== undefined && label.path !== place)
        return refused(
          `All of ${label.path.slice(workspace.dir.length + 1)} is of others; trust that folder.`,
        );
      await labels.remove([place, ...inside]);
      return { ok: true, path: shown };
    } catch (error) {
      if (error instanceof WorkspaceError) return refused(error.message);
      throw error;
    }
  };
}

function refused(message: string): Trusted {
  return { ok: false, message };
}
