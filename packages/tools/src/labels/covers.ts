import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { IDENTITY_FILES, IDENTITY_FOLDERS, isPrivate } from "../files/identity-files.ts";
import { closedMemory, INBOX_FOLDER, ownFolders } from "../files/places.ts";
import type { Cover } from "../sandbox/types.ts";
import type { RunFacts } from "../types.ts";
import { inside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { FileLabels } from "./file-labels.ts";
import { type FileLabel, isForeign } from "./label.ts";

/** What of a workspace a command of a run sees. */
export interface View {
  readonly covers: readonly Cover[];
  /** Whether there is anything under one of them. */
  readonly hides: boolean;
  /** What others wrote and the command sees nevertheless, its name at least. */
  readonly exposed: readonly FileLabel[];
  /** Names that others chose and that the command can list. */
  readonly names: readonly string[];
}

/** Each is a mount: beyond so many the run counts as having seen them. */
const MAX_COVERS = 100;
/** Labels that are examined before other work gets its turn: a few milliseconds. */
const SLICE_LABELS = 500;
/** Longer or stranger names can carry sentences. */
const PLAIN_NAME = /^[\w.-]{1,32}$/;

/**
 * What a command sees: never the attachments of other conversations and the notes of other people, and while its run
 * has seen nothing of others, nothing that is labelled as theirs either.
 */
export async function getView(labels: FileLabels, dir: string, facts: RunFacts): Promise<View> {
  const tainted = facts.taint.length > 0;
  const covers = [...foldersOfOthers(dir, facts), ...privatePlaces(dir, facts)];
  const exposed: FileLabel[] = [];
  const names: string[] = [];
  const foreign = tainted ? [] : labels.below(dir).filter((label) => isForeign(label, facts));
  for (const [index, label] of foreign.entries()) {
    if (index % SLICE_LABELS === SLICE_LABELS - 1) await setImmediate();
    if (covers.some(({ path, except }) => inside(label.path, path) && !isIn(label.path, except))) continue;
    const type = typeOf(label.path);
    if (type === undefined) continue;
    const name = label.path.slice(label.path.lastIndexOf("/") + 1);
    names.push(name);
    const coverable = type === "file" || (type === "folder" && label.kind === "tree");
    if (coverable && covers.length < MAX_COVERS) covers.push({ path: label.path, kind: type });
    const onlyNamed = type === "folder" && label.kind === "entry";
    if (!PLAIN_NAME.test(name) || !(onlyNamed || covers.at(-1)?.path === label.path)) exposed.push(label);
  }
  const hides = covers.some(({ path }) => typeOf(path) !== undefined);
  return { covers, hides, exposed, names };
}

/**
 * Whether they exist or not. No command ever puts anything beside the folder that one may see, a link in its place
 * least of all: the launcher looks it up by its path.
 */
function foldersOfOthers(dir: string, facts: RunFacts): Cover[] {
  const covers: Cover[] = [];
  for (const [top, own] of ownFolders(facts)) {
    const path = join(dir, top);
    assertFolder(path, top);
    // What came with messages is the word of others: a run sees its own conversation's once it has read such words.
    const mine =
      own !== undefined && (top !== INBOX_FOLDER || facts.taint.length > 0) ? join(path, own) : undefined;
    const except = mine !== undefined && typeOf(mine) === "folder" ? { except: mine } : {};
    covers.push({ path, kind: "folder", ...except });
  }
  return covers;
}

function privatePlaces(dir: string, facts: RunFacts): Cover[] {
  const covers: Cover[] = [];
  for (const name of privateNames(facts)) {
    const path = join(dir, name);
    const type = typeOf(path);
    if (type === "link" || type === "other")
      throw new Error(`${name} is not a plain file, which cannot be covered.`);
    if (type !== undefined) covers.push({ path, kind: type });
  }
  return covers;
}

function privateNames(facts: RunFacts): ReadonlySet<string> {
  const ofGuests = facts.role === "guest" ? [...IDENTITY_FILES, ...IDENTITY_FOLDERS].filter(isPrivate) : [];
  return new Set([...ofGuests, ...closedMemory(facts)]);
}

/** What a search of a run does not look into: what it comes upon there would not be shown. Links are not followed. */
export function closedPlaces({ dir, forbidden }: Workspace, facts: RunFacts): Cover[] {
  const ofOthers = [...ownFolders(facts)].flatMap(([top, own]) =>
    own === undefined ? [] : coverOf(join(dir, top), join(dir, top, own)),
  );
  const closed = [...[...privateNames(facts)].map((name) => join(dir, name)), ...forbidden];
  return [...ofOthers, ...closed.flatMap((path) => coverOf(path))];
}

function coverOf(path: string, own?: string): Cover[] {
  const kind = typeOf(path);
  if (kind !== "file" && kind !== "folder") return [];
  return [{ path, kind, ...(own !== undefined && typeOf(own) === "folder" ? { except: own } : {}) }];
}

function assertFolder(path: string, name: string): void {
  const type = typeOf(path);
  if (type === undefined || type === "folder") return;
  throw new Error(`${name} is a ${type}, but must be a folder that commands cannot see; move it away.`);
}

function isIn(path: string, folder: string | undefined): boolean {
  return folder !== undefined && inside(path, folder);
}

/** Synchronous: a look takes microseconds, a trip to another thread ten times as many. */
function typeOf(path: string): "file" | "folder" | "link" | "other" | undefined {
  const info = infoOf(path);
  if (info === undefined) return undefined;
  if (info.isSymbolicLink()) return "link";
  if (info.isFile()) return "file";
  return info.isDirectory() ? "folder" : "other";
}

function infoOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
