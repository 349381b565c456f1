import { open, opendir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { type FileLabels, openFileLabels } from "../labels/file-labels.ts";
import { createMemoryLabelStore } from "../labels/label.ts";
import { WorkspaceError } from "./errors.ts";
import { FolderTree } from "./folder-tree.ts";
import { type OpenFile, openRegularFile, readWhole } from "./open-file.ts";
import { inside, realFolder, realOrGiven } from "./paths.ts";
import { Reach } from "./reach.ts";
import { replaceFile } from "./replace-file.ts";
import { FOLDER_FLAGS, leadsThroughDescriptors, type Place, type Root, type WalkOptions } from "./walk.ts";

export interface WorkspaceOptions {
  /** The agent's folder. It must exist. */
  readonly dir: string;
  /** Folders that may be read as well, for instance those of skills; absolute. Missing ones are left out. */
  readonly readOnlyDirs?: readonly string[];
  /** Places that stay closed even where they lie inside the workspace, for instance the gateway's own state. */
  readonly forbidden?: readonly string[];
  /** Which files hold what others wrote. Default: remembered for this workspace, until it is opened anew. */
  readonly labels?: FileLabels;
  /** See `WalkOptions`. */
  readonly viaDescriptors?: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "link" | "other";
}

interface Folder {
  /** As the agent would write it. */
  readonly displayPath: string;
  /** Absolute, without links. */
  readonly path: string;
  /** By name. */
  readonly entries: readonly FolderEntry[];
}

interface WriteOptions {
  /** May refuse after the path was followed and before anything is changed; gets the display path. */
  readonly check?: (displayPath: string) => void;
  /** Awaited after `check` and before anything is changed; gets the absolute path. */
  readonly before?: (path: string) => Promise<void>;
}

/** An agent's files. Every path is followed without leaving the folders given. Failures are `WorkspaceError`s. */
export interface Workspace {
  /** Absolute, links resolved. */
  readonly dir: string;
  readonly readOnlyDirs: readonly string[];
  readonly forbidden: readonly string[];
  readonly labels: FileLabels;
  /** Where a path really leads, as the agent would write it; the path need not exist. */
  locate(path: string): Promise<string>;
  /** The absolute path, without links, of a folder that exists. */
  locateFolder(path: string): Promise<string>;
  /** Opens a folder for reading many files below it. */
  openTree(path: string): Promise<FolderTree>;
  /** Opens a regular file for reading. */
  openFile(path: string): Promise<OpenFile>;
  /** Reads a whole file; refuses one of more bytes. For hosts that attach what an agent names. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array>;
  list(path: string): Promise<Folder>;
  /** Replaces or creates a file in one step, with the folders on the way. Returns its display path. */
  writeFile(path: string, content: Uint8Array, options?: WriteOptions): Promise<string>;
  /** Removes a regular file of a writable folder. For hosts that clean up what they put there. */
  removeFile(path: string): Promise<void>;
  /** The same for a folder, where it is empty. */
  removeFolder(path: string): Promise<void>;
}

const ENTRIES_AT_ONCE = 500;

/** Opens a workspace. Throws `WorkspaceError` `not_found` or `not_a_folder` for its folder. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const dir = await realFolder(options.dir);
  const readable: Root[] = [];
  for (const extra of options.readOnlyDirs ?? []) {
    const real = await realFolder(extra).catch(() => undefined);
    const given = resolve(extra);
    // Whoever can write the workspace could have put a link there.
    const leadsOut = inside(given, dir) && real !== undefined && !inside(real, dir);
    if (real !== undefined && !leadsOut) readable.push({ real, given, writable: false });
  }
  const forbidden = (await Promise.all((options.forbidden ?? []).map(realOrGiven))).flat();
  const walk: WalkOptions =
    options.viaDescriptors === undefined ? {} : { viaDescriptors: options.viaDescriptors };
  const home = { real: dir, given: resolve(options.dir), writable: true };
  const reach = new Reach({ home, readable, forbidden, walk });
  return {
    dir,
    readOnlyDirs: readable.map((root) => root.real),
    forbidden,
    labels: options.labels ?? (await openFileLabels(createMemoryLabelStore())),
    locate: (path) => reach.locate(path),
    locateFolder: (path) =>
      reach.at(path, (place) => {
        mustBeFolder(place, path);
        return place.path;
      }),
    openTree: (path) => openTree(reach, path, leadsThroughDescriptors(walk)),
    openFile: (path) => openFile(reach, path),
    readBytes: (path, maxBytes) => readBytes(reach, path, maxBytes),
    list: (path) => reach.at(path, (place) => listFolder(reach, place, path)),
    writeFile: (path, content, how = {}) => writeFile(reach, { dir, path, content, ...how }),
    removeFile: (path) =>
      reach.at(path, async (place) => {
        mustBeWritable(place, path);
        if (place.type === undefined) throw new WorkspaceError("not_found", `There is no file ${path}.`);
        if (place.type !== "file") throw new WorkspaceError("not_a_file", `${path} is not a regular file.`);
        await unlink(place.access);
      }),
    removeFolder: (path) => removeFolder(reach, path),
  };
}

/** From the folder that it is in: whatever takes its place meanwhile, a link for instance, is no folder and stays. */
async function removeFolder(reach: Reach, path: string): Promise<void> {
  await reach.at(path, async (place) => mustBeFolder(place, path));
  await reach.at(dirname(path), async (parent) => {
    mustBeWritable(parent, path);
    await rmdir(`${parent.access}/${basename(path)}`);
  });
}

async function openTree(reach: Reach, path: string, viaDescriptors: boolean): Promise<FolderTree> {
  const place = await reach.to(path);
  try {
    mustBeFolder(place, path);
    return new FolderTree({
      path: place.path,
      handle: await open(`${place.access}/.`, FOLDER_FLAGS),
      viaDescriptors,
      assertOpen: (file) => reach.assertOpen({ root: place.root, path: file }, reach.displayPath(file)),
      displayPath: (file) => reach.displayPath(file),
    });
  } finally {
    await place.close();
  }
}

function openFile(reach: Reach, path: string): Promise<OpenFile> {
  return reach.at(path, (place) => {
    if (place.type === undefined) throw new WorkspaceError("not_found", `There is no file ${path}.`);
    if (place.type === "folder") throw new WorkspaceError("not_a_file", `${path} is a folder; use ls.`);
    if (place.type === "other") throw new WorkspaceError("not_a_file", `${path} is not a regular file.`);
    return openRegularFile(place.access, { path: place.path, displayPath: reach.displayPath(place.path) });
  });
}

async function readBytes(reach: Reach, path: string, maxBytes: number): Promise<Uint8Array> {
  const file = await openFile(reach, path);
  try {
    if (file.size > maxBytes) {
      throw new WorkspaceError(
        "io",
        `${path} has ${file.size} bytes; at most ${maxBytes} can be read at once.`,
      );
    }
    return await readWhole(file);
  } finally {
    await file.close();
  }
}

async function listFolder(reach: Reach, place: Place, path: string): Promise<Folder> {
  mustBeFolder(place, path);
  const types = new Map<string, FolderEntry["type"]>();
  // In portions: all entries of a large folder at once would hold everybody else up.
  for await (const entry of await opendir(place.access, { bufferSize: ENTRIES_AT_ONCE }))
    types.set(entry.name, entryType(entry));
  const entries = [...types.keys()].sort().map((name) => ({ name, type: types.get(name) ?? "other" }));
  return { displayPath: reach.displayPath(place.path), path: place.path, entries };
}

interface Writing extends WriteOptions {
  readonly dir: string;
  readonly path: string;
  readonly content: Uint8Array;
}

async function writeFile(reach: Reach, { dir, path, content, check, before }: Writing): Promise<string> {
  // Looked at first, so that a refusal leaves no new folders behind.
  const expected = await reach.locate(path);
  check?.(expected);
  await before?.(resolve(dir, expected));
  if (/\/\.?$/.test(path))
    throw new WorkspaceError("not_a_file", `${path} names a folder; name a file in it.`);
  const write = async (place: Place): Promise<string> => {
    mustBeWritable(place, path);
    if (place.type === "folder") throw new WorkspaceError("not_a_file", `${path} is a folder.`);
    if (place.type === "other") throw new WorkspaceError("not_a_file", `${path} is not a regular file.`);
    const displayPath = reach.displayPath(place.path);
    check?.(displayPath);
    if (place.path !== resolve(dir, expected)) await before?.(place.path);
    await replaceFile(place, content);
    return displayPath;
  };
  return reach.at(path, write, { makeFolders: true });
}

function mustBeFolder(place: Place, path: string): void {
  if (place.type === undefined) throw new WorkspaceError("not_found", `There is no folder ${path}.`);
  if (place.type !== "folder") throw new WorkspaceError("not_a_folder", `${path} is a file, not a folder.`);
}

function mustBeWritable(place: Place, path: string): void {
  if (!place.root.writable) throw new WorkspaceError("read_only", `${path} can be read but not changed.`);
}

function entryType(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): FolderEntry["type"] {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}
