import { createHash } from "node:crypto";
import type { Claim, Permit, RunFacts } from "../types.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import { fold } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { claimsOn, identityGuard, isPrivate } from "./identity-files.ts";

/** At the top of a workspace: a folder for what came with the messages of each conversation. */
export const INBOX_FOLDER = "inbox";
/** At the top of a workspace: a folder for the notes of each person who is not an owner. */
export const PEOPLE_FOLDER = "people";

/** At the top of a workspace: what the agent remembers. */
const MEMORY_FOLDER = "memory";
/** In it, what was said to the agent in private or in a group: the memory tools alone know for whom it is. */
const OF_OTHERS: ReadonlySet<string> = new Set(["people", "chats"]);
/** Conversations in which no one else can read. */
const IN_PRIVATE: ReadonlySet<string> = new Set(["direct", "api"]);

/** Files of memory are the owners', in private; what others told the agent is no file for anybody's tools. */
function mayOpenMemory(second: string | undefined, facts: RunFacts): boolean {
  if (second === undefined) return true;
  return isOwnerInPrivate(facts) && !OF_OTHERS.has(fold(second)) && !second.startsWith(".");
}

/** Whether what is said in a run is read by owners alone. */
export function isOwnerInPrivate({ role, channelKind }: RunFacts): boolean {
  return role === "owner" && IN_PRIVATE.has(channelKind);
}

/** The places of memory that a run may not see, relative to the workspace. */
export function closedMemory(facts: RunFacts): readonly string[] {
  if (!isOwnerInPrivate(facts)) return [MEMORY_FOLDER];
  return [...OF_OTHERS].map((name) => `${MEMORY_FOLDER}/${name}`);
}

/** The folder of one conversation or person in a folder of many: remote strings make no paths. */
export function folderFor(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 16);
}

/** Whose folder of `inbox` and of `people` a run may see; absent in `people`: every one, for owners alone. */
export function ownFolders({
  sessionKey,
  speaker,
  role,
  taint,
}: RunFacts): ReadonlyMap<string, string | undefined> {
  const isOwners = role === "owner" && taint.length === 0;
  const person = isOwners ? undefined : folderFor(speaker ?? "nobody");
  return new Map([
    [INBOX_FOLDER, folderFor(sessionKey)],
    [PEOPLE_FOLDER, person],
  ]);
}

/**
 * Whether a run may know of a place at all, `path` as the workspace displays it. Attachments belong to their
 * conversation and notes to their person; guests see nothing of what the agent remembers.
 */
export function isVisible(path: string, facts: RunFacts): boolean {
  const [top = "", second] = path.split("/");
  if (facts.role === "guest" && isPrivate(path)) return false;
  if (fold(top) === MEMORY_FOLDER && !mayOpenMemory(second, facts)) return false;
  if (second === undefined) return true;
  const own = ownFolders(facts).get(fold(top));
  return own === undefined || fold(second) === own;
}

/** Refuses a place that the run may not know of, by where its path has led. @param path as the agent wrote it */
export function assertVisible(path: string, place: string, facts: RunFacts): void {
  if (!isVisible(place, facts)) throw new WorkspaceError("not_found", `There is no ${path} here.`);
}

/**
 * The claim of a call that changes the agent's own notes, by where its path really leads. Throws for a place that the
 * run may not know of, so that nobody is asked about it: the question, which its conversation reads, would show it.
 */
export async function writeClaims(
  workspace: Workspace,
  path: string,
  facts: RunFacts,
): Promise<readonly Claim[]> {
  // Outside the workspace, or nowhere: the tool itself will say so.
  const place = await workspace.locate(path).catch(() => undefined);
  if (place === undefined) return [];
  assertVisible(path, place, facts);
  return claimsOn("write_identity", place);
}

/**
 * What `writeClaims` said is said again of the place that is really about to be written, since links may have changed
 * since the decision.
 */
export function writeGuard(path: string, permit: Permit): (place: string) => void {
  const guard = identityGuard(permit);
  return (place) => {
    assertVisible(path, place, permit.run.facts);
    guard(place);
  };
}
