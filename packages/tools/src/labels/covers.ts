import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { IDENTITY_FILES, IDENTITY_FOLDERS, isPrivate } from "../files/identity-files.ts";
import { getClosedMemory, getOwnFolders, INBOX_FOLDER } from "../files/places.ts";
import type { Cover } from "../sandbox/types.ts";
import type { RunFacts } from "../types.ts";
import { isInside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { FileLabels } from "./file-labels.ts";
import { type FileLabel, isForeign } from "./label.ts";

/** The view of a workspace from a run's command. */
export interface View {
  readonly covers: readonly Cover[];
  /** True if at least one cover hides something. */
  readonly hides: boolean;
  /** Untrusted files that the command can see or whose names it can read. */
  readonly exposed: readonly FileLabel[];
  /** Names that others chose and that the command can list. */
  readonly names: readonly string[];
}

/** Maximum number of covers, because each cover is a mount. Further files taint the run. */
const MAX_COVERS = 100;
/** Number of labels to examine before yielding to the event loop. This takes a few milliseconds. */
const SLICE_LABELS = 500;
/** Matches names that cannot contain a sentence. Other names taint the run. */
const PLAIN_NAME = /^[\w.-]{1,32}$/;

/**
 * Returns the view of a command. Attachments from other conversations and notes of other people are always hidden.
 * Files that others wrote are hidden while the run is untainted.
 */
export async function getView(labels: FileLabels, dir: string, facts: RunFacts): Promise<View> {
  const tainted = facts.taint.length > 0;
  const covers = [...coverPersonalFolders(dir, facts), ...coverPrivatePlaces(dir, facts)];
  const exposed: FileLabel[] = [];
  const names: string[] = [];
  const foreign = tainted ? [] : labels.list(dir).filter((label) => isForeign(label, facts));
  for (const [index, label] of foreign.entries()) {
    if (index % SLICE_LABELS === SLICE_LABELS - 1) await setImmediate();
    if (covers.some(({ path, except }) => isInside(label.path, path) && !isIn(label.path, except))) continue;
    const type = getType(label.path);
    if (type === undefined) continue;
    const name = label.path.slice(label.path.lastIndexOf("/") + 1);
    names.push(name);
    const coverable = type === "file" || (type === "folder" && label.kind === "tree");
    if (coverable && covers.length < MAX_COVERS) covers.push({ path: label.path, kind: type });
    const onlyNamed = type === "folder" && label.kind === "entry";
    if (!PLAIN_NAME.test(name) || !(onlyNamed || covers.at(-1)?.path === label.path)) exposed.push(label);
  }
  const hides = covers.some(({ path }) => getType(path) !== undefined);
  return { covers, hides, exposed, names };
}

/**
 * Covers the folders of other people and creates them if necessary. Otherwise, a command could put a link in their
 * place, which the launcher would follow.
 */
function coverPersonalFolders(dir: string, facts: RunFacts): Cover[] {
  const covers: Cover[] = [];
  for (const [top, own] of getOwnFolders(facts)) {
    const path = join(dir, top);
    assertFolder(path, top);
    // Attachments were written by others, so a run sees the attachments of the current conversation only once it is
    // tainted.
    const ownFolder =
      own !== undefined && (top !== INBOX_FOLDER || facts.taint.length > 0) ? join(path, own) : undefined;
    const except = ownFolder !== undefined && getType(ownFolder) === "folder" ? { except: ownFolder } : {};
    covers.push({ path, kind: "folder", ...except });
  }
  return covers;
}

function coverPrivatePlaces(dir: string, facts: RunFacts): Cover[] {
  const covers: Cover[] = [];
  for (const name of getPrivateNames(facts)) {
    const path = join(dir, name);
    const type = getType(path);
    if (type === "link" || type === "other")
      throw new Error(
        `${name} is neither a file nor a folder, so it cannot be hidden from commands; replace it.`,
      );
    if (type !== undefined) covers.push({ path, kind: type });
  }
  return covers;
}

function getPrivateNames(facts: RunFacts): ReadonlySet<string> {
  const ofGuests = facts.role === "guest" ? [...IDENTITY_FILES, ...IDENTITY_FOLDERS].filter(isPrivate) : [];
  return new Set([...ofGuests, ...getClosedMemory(facts)]);
}

/** Returns the paths that a search skips because their files would not be shown. Does not follow links. */
export function getClosedPlaces({ dir, forbidden }: Workspace, facts: RunFacts): Cover[] {
  const ofOthers = [...getOwnFolders(facts)].flatMap(([top, own]) =>
    own === undefined ? [] : createCovers(join(dir, top), join(dir, top, own)),
  );
  const closed = [...[...getPrivateNames(facts)].map((name) => join(dir, name)), ...forbidden];
  return [...ofOthers, ...closed.flatMap((path) => createCovers(path))];
}

function createCovers(path: string, own?: string): Cover[] {
  const kind = getType(path);
  if (kind !== "file" && kind !== "folder") return [];
  return [{ path, kind, ...(own !== undefined && getType(own) === "folder" ? { except: own } : {}) }];
}

function assertFolder(path: string, name: string): void {
  const type = getType(path);
  if (type === undefined || type === "folder") return;
  throw new Error(`${name} is a ${type}, but must be a folder that commands cannot see; move it away.`);
}

function isIn(path: string, folder: string | undefined): boolean {
  return folder !== undefined && isInside(path, folder);
}

/**
 * This is synchronous because `lstat` takes microseconds, and a round trip to the thread pool takes ten times as long.
 */
function getType(path: string): "file" | "folder" | "link" | "other" | undefined {
  const info = statIfExists(path);
  if (info === undefined) return undefined;
  if (info.isSymbolicLink()) return "link";
  if (info.isFile()) return "file";
  return info.isDirectory() ? "folder" : "other";
}

function statIfExists(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
