import type { Claim, Permit } from "../types.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import { fold } from "../workspace/paths.ts";

/** Files at the top of a workspace that define who the agent is, what it knows about people, and how it works. */
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
/** Identity folders: memories, and skills, which later runs follow. */
export const IDENTITY_FOLDERS: readonly string[] = [".agents", "memory", "skills"];
/** Identity files that everyone with read access may read. */
const READABLE = new Set([".agents", "skills", "AGENTS.md", "TOOLS.md"].map(fold));

const PROTECTED = new Set([...IDENTITY_FILES, ...IDENTITY_FOLDERS].map(fold));

/** Returns true if a path, relative to the workspace and with links resolved, is an identity file. */
function isIdentityPath(path: string): boolean {
  return PROTECTED.has(fold(path.split("/", 1)[0] ?? ""));
}

/**
 * Returns true if guests may not see a workspace path. This applies to the files that define the agent and to its
 * memories.
 */
export function isPrivate(path: string): boolean {
  return isIdentityPath(path) && !READABLE.has(fold(path.split("/", 1)[0] ?? ""));
}

/**
 * Returns the claim for access to a path, given as the workspace displays it. For hosts that provide files by other
 * means than the tools.
 */
export function getIdentityClaims(kind: "read_identity" | "write_identity", path: string): readonly Claim[] {
  const claimed = kind === "read_identity" ? isPrivate(path) : isIdentityPath(path);
  return claimed ? [{ kind, detail: path }] : [];
}

/** Returns a check that rejects an identity file whose claim was not part of the decision. */
export function createIdentityGuard(permit: Permit): (path: string) => void {
  return (path) => {
    const decided = permit.record.claims.some(
      (claim) => claim.kind === "write_identity" && claim.detail === path,
    );
    if (isIdentityPath(path) && !decided) {
      throw new WorkspaceError(
        "changed",
        `${path} is not the file for which the call was decided. Repeat the call.`,
      );
    }
  };
}
