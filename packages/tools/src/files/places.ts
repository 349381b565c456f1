import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import type { Claim, RunFacts } from "../types.ts";
import { HiddenPlaceError } from "../workspace/errors.ts";
import { fold } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { getIdentityClaims, isPrivate } from "./identity-files.ts";

/** Folder at the top of a workspace that contains message attachments, in a subfolder for each conversation. */
export const INBOX_FOLDER = "inbox";
/**
 * Folder at the top of a workspace that contains the notes of people who are not owners, in a subfolder for each
 * person.
 */
export const PEOPLE_FOLDER = "people";

/** Folder at the top of a workspace that contains the agent's memories. */
const MEMORY_FOLDER = "memory";
/**
 * Memory subfolders for private and group conversations. Only the memory tools can determine who may read their
 * content.
 */
const MEMORIES_OF_OTHERS: ReadonlySet<string> = new Set(["people", "chats"]);
/** Kinds of conversations that no other person can read. */
const PRIVATE_KINDS: ReadonlySet<string> = new Set(["direct", "api"]);

/**
 * Returns true if the run may open a memory file. Only owners may open memory files, and only in private. File tools
 * never open the memories of other people or of groups.
 */
function mayOpenMemory(second: string | undefined, facts: RunFacts): boolean {
  if (second === undefined) return true;
  return isOwnerInPrivate(facts) && !MEMORIES_OF_OTHERS.has(fold(second)) && !second.startsWith(".");
}

/** Returns true if only owners can read the run's conversation. */
export function isOwnerInPrivate({ role, channelKind }: RunFacts): boolean {
  return role === "owner" && PRIVATE_KINDS.has(channelKind);
}

/** Returns the memory folders that a run may not see, relative to the workspace. */
export function getClosedMemory(facts: RunFacts): readonly string[] {
  if (!isOwnerInPrivate(facts)) return [MEMORY_FOLDER];
  return [...MEMORIES_OF_OTHERS].map((name) => `${MEMORY_FOLDER}/${name}`);
}

/**
 * Returns the subfolder name for a conversation or person. The name is a hash, because ids come from remote systems and
 * must not become paths.
 */
export function toFolderName(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 16);
}

/**
 * Returns the subfolders of `inbox` and `people` that a run may see. `people` is undefined for untainted owners, who
 * may see all of its subfolders.
 */
export function getOwnFolders({
  sessionKey,
  speaker,
  role,
  taint,
}: RunFacts): ReadonlyMap<string, string | undefined> {
  const isOwners = role === "owner" && taint.length === 0;
  const person = isOwners ? undefined : toFolderName(speaker ?? "nobody");
  return new Map([
    [INBOX_FOLDER, toFolderName(sessionKey)],
    [PEOPLE_FOLDER, person],
  ]);
}

/**
 * Returns true if a run may know about a path, given as the workspace displays it. Attachments belong to their
 * conversation and notes to their person. Guests do not see the agent's memories.
 */
export function isVisible(path: string, facts: RunFacts): boolean {
  const [top = "", second] = path.split("/");
  if (facts.role === "guest" && isPrivate(path)) return false;
  if (fold(top) === MEMORY_FOLDER && !mayOpenMemory(second, facts)) return false;
  if (second === undefined) return true;
  const own = getOwnFolders(facts).get(fold(top));
  return own === undefined || fold(second) === own;
}

/** Returns a workspace that hides the paths that a run may not know about. */
export function getVisibleWorkspace(workspace: Workspace, facts: RunFacts): Workspace {
  return workspace.restrict((path) => isVisible(path, facts));
}

/** Returns the claim of a call that reads identity files, for the path with its links resolved. */
export async function getReadClaims(
  workspace: Workspace,
  path: string,
  facts: RunFacts,
): Promise<readonly Claim[]> {
  // For a missing or hidden path, only the path itself is checked, so the decision does not reveal whether the path
  // exists.
  const place = await getVisibleWorkspace(workspace, facts)
    .locate(path)
    .catch(() => relative(workspace.dir, resolve(workspace.dir, path)));
  return getIdentityClaims("read_identity", place);
}

/**
 * Returns the claim of a call that changes identity files, for the path with its links resolved. Throws for a path that
 * the run may not know about, because an approval request would reveal the path to its conversation.
 */
export async function getWriteClaims(
  workspace: Workspace,
  path: string,
  facts: RunFacts,
): Promise<readonly Claim[]> {
  try {
    const place = await getVisibleWorkspace(workspace, facts).locate(path);
    return getIdentityClaims("write_identity", place);
  } catch (error) {
    if (error instanceof HiddenPlaceError) throw error;
    // The path is invalid or outside the workspace. The tool reports this when it runs.
    return [];
  }
}
