import type { Claim, Permit } from "../types.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import { fold } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Names at the top of a workspace that say who the agent is, what it knows of people, and how it works. */
export const IDENTITY_FILES: readonly string[] = [
  "AGENTS.md",
  "BOOTSTRAP.md",
  "HEARTBEAT.md",
  "IDENTITY.md",
  "MEMORY.md",
  "SOUL.md",
  "TOOLS.md",
  "USER.md",
];
/** Folders of the same kind: memories, and skills, which later runs follow. */
export const IDENTITY_FOLDERS: readonly string[] = [".agents", "memory", "skills"];
/** Anyone who may read at all may read skills. */
const READABLE = new Set([".agents", "skills", "AGENTS.md", "TOOLS.md"].map(fold));

const PROTECTED = new Set([...IDENTITY_FILES, ...IDENTITY_FOLDERS].map(fold));

/** Whether a path, relative to the workspace and without links, is one of the agent's own notes. */
function isIdentityPath(path: string): boolean {
  return PROTECTED.has(fold(path.split("/", 1)[0] ?? ""));
}

/** Whether guests may not see a place of the workspace: what the agent is, and what it remembers. */
export function isPrivate(path: string): boolean {
  return isIdentityPath(path) && !READABLE.has(fold(path.split("/", 1)[0] ?? ""));
}

/** The claim of a call that reads the agent's own notes, by where its path really leads. */
export async function readClaims(workspace: Workspace, path: string): Promise<readonly Claim[]> {
  // Outside the workspace, or nowhere: the tool itself will say so.
  const place = await workspace.locate(path).catch(() => undefined);
  return place === undefined ? [] : claimsOn("read_identity", place);
}

/**
 * The claim on the agent's own notes of a caller that has opened a file; `path` as the workspace displays it. For hosts
 * that give out files in other ways than through the tools.
 */
export function claimsOn(kind: "read_identity" | "write_identity", path: string): readonly Claim[] {
  const claimed = kind === "read_identity" ? isPrivate(path) : isIdentityPath(path);
  return claimed ? [{ kind, detail: path }] : [];
}

/** Refuses one of the agent's own notes that was not claimed when the call was judged. */
export function identityGuard(permit: Permit): (path: string) => void {
  return (path) => {
    const decided = permit.record.claims.some(
      (claim) => claim.kind === "write_identity" && claim.detail === path,
    );
    if (isIdentityPath(path) && !decided) {
      throw new WorkspaceError("changed", `${path} was not what this path led to when the call was judged.`);
    }
  };
}
