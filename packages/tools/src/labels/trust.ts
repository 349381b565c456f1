import { join } from "node:path";
import { type Phrases, phrasesIn } from "@signalbox/phrases";
import { INBOX_FOLDER } from "../files/places.ts";
import type { AgentWorkspaces } from "../workspace/agent-workspaces.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import type { FileLabels } from "./file-labels.ts";

/** The outcome when an owner vouches for a file of a workspace. */
export type Trusted =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string };

/** Takes the label of a file or folder away: an owner vouches for it, and for all that is in it now. */
export type Trust = (
  agent: Parameters<AgentWorkspaces>[0],
  path: string,
  /** What is said where it cannot be. Default: English. */
  phrases?: Pick<Phrases, "notTrusted">,
) => Promise<Trusted>;

export function createTrust(labels: FileLabels, workspaces: AgentWorkspaces): Trust {
  return async (agent, path, { notTrusted } = phrasesIn("en")) => {
    try {
      const workspace = await workspaces(agent);
      const shown = await workspace.locate(path);
      const place = join(workspace.dir, shown);
      if (shown === INBOX_FOLDER || shown.startsWith(`${INBOX_FOLDER}/`))
        return refused(notTrusted.received(shown, INBOX_FOLDER));
      const label = labels.of(place);
      const inside = labels.below(place).map((each) => each.path);
      if (label === undefined && inside.length === 0) return refused(notTrusted.nothing(shown));
      if (label !== undefined && label.path !== place)
        return refused(notTrusted.inFolder(label.path.slice(workspace.dir.length + 1)));
      await labels.remove([place, ...inside]);
      return { ok: true, path: shown };
    } catch (error) {
      if (error instanceof WorkspaceError) return refused(notTrusted[kindOf(error)](path));
      throw error;
    }
  };
}

function kindOf({ code }: WorkspaceError): "outside" | "missing" | "unusable" {
  if (code === "not_found") return "missing";
  return code === "outside" || code === "forbidden" ? "outside" : "unusable";
}

function refused(message: string): Trusted {
  return { ok: false, message };
}
