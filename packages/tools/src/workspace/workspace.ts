import { open, opendir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { type FileLabels, openFileLabels } from "../labels/file-labels.ts";
import { createMemoryLabelStore } from "../labels/label.ts";
import { WorkspaceError } from "./errors.ts";
import { FolderTree } from "./folder-tree.ts";
import { type OpenFile, openRegularFile, readWhole } from "./open-file.ts";
import { PathResolver } from "./path-resolver.ts";
import { isInside, resolveFolder, resolveVariants } from "./paths.ts";
import { replaceFile } from "./replace-file.ts";
import { FOLDER_FLAGS, type Place, type Root, usesDescriptors, type WalkOptions } from "./walk.ts";

export interface WorkspaceOptions {
  /** The agent's folder. It must exist. */
  readonly dir: string;
  /** Absolute paths of additional readable folders, for example of skills. Missing folders are ignored. */
  readonly readOnlyDirs?: readonly string[];
  /** Paths that are closed even if they are inside the workspace, for example the gateway's own state. */
  readonly forbidden?: readonly string[];
  /**
   * Labels of the files that others wrote. Default: in-memory labels, which last until the workspace is opened again.
   */
  readonly labels?: FileLabels;
  /** See `WalkOptions`. */
  readonly viaDescriptors?: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "link" | "other";
}

interface Folder {
  /** Path in the form in which the agent would write it. */
  readonly displayPath: string;
  /** Absolute path with links resolved. */
  readonly path: string;
  /** Sorted by name. */
  readonly entries: readonly FolderEntry[];
}

interface WriteOptions {
  /** Throws an error to refuse the write. Called with the display path before anything is changed. */
  readonly check?: (displayPath: string) => void;
  /** Awaited after `check` and before anything is changed. Called with the absolute path. */
  readonly before?: (path: string) => Promise<void>;
}

/** An agent's files. No path leads out of the given folders. Methods reject with `WorkspaceError`. */
export interface Workspace {
  /** Absolute path with links resolved. */
  readonly dir: string;
  readonly readOnlyDirs: readonly string[];
  readonly forbidden: readonly string[];
  readonly labels: FileLabels;
  /**
   * Returns the same workspace with some paths hidden. Every call with a hidden path fails with the same message,
   * whether or not the path exists.
   *
   * @param isVisible receives a path in the form in which the agent would write it, with links resolved
   */
  restrict(isVisible: (path: string) => boolean): Workspace;
  /**
   * Resolves the links of a path, which may not exist, and returns it in the form in which the agent would write it.
   */
  locate(path: string): Promise<string>;
  /** Returns the absolute path of an existing folder, with links resolved. */
  locateFolder(path: string): Promise<string>;
  /** Opens a folder in order to read many of the files below it. */
  openTree(path: string): Promise<FolderTree>;
  /** Opens a regular file for reading. */
  openFile(path: string): Promise<OpenFile>;
  /** Reads a whole file. Rejects if it is larger than `maxBytes`. For hosts that send files as attachments. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array>;
  list(path: string): Promise<Folder>;
  /** Replaces or creates a file atomically, and creates missing folders. Returns its display path. */
  writeFile(path: string, content: Uint8Array, options?: WriteOptions): Promise<string>;
  /** Removes a regular file from a writable folder. For hosts that remove files that they created. */
  removeFile(path: string): Promise<void>;
  /** Removes an empty folder. */
  removeFolder(path: string): Promise<void>;
}

const ENTRIES_AT_ONCE = 500;

/**
 * Opens a workspace.
 *
 * @throws WorkspaceError `not_found` or `not_a_folder` for the agent's folder
 * @example
 * const workspace = await openWorkspace({ dir: "/srv/agents/coder" }); const runner = createToolRunner({ tools:
 * [createReadTool({ workspace })], policy, record });
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const dir = await resolveFolder(options.dir);
  const readable: Root[] = [];
  for (const extra of options.readOnlyDirs ?? []) {
    const real = await resolveFolder(extra).catch(() => undefined);
    const configured = resolve(extra);
    // A process that can write to the workspace could have created a link there.
    const leadsOut = isInside(configured, dir) && real !== undefined && !isInside(real, dir);
    if (real !== undefined && !leadsOut) readable.push({ real, configured, writable: false });
  }
  const forbidden = (await Promise.all((options.forbidden ?? []).map(resolveVariants))).flat();
  const walk: WalkOptions =
    options.viaDescriptors === undefined ? {} : { viaDescriptors: options.viaDescriptors };
  const home = { real: dir, configured: resolve(options.dir), writable: true };
  return createWorkspace(new PathResolver({ home, readable, forbidden, walk }), {
    dir,
    readOnlyDirs: readable.map((root) => root.real),
    forbidden,
    labels: options.labels ?? (await openFileLabels(createMemoryLabelStore())),
    viaDescriptors: usesDescriptors(walk),
  });
}

interface WorkspaceParts extends Pick<Workspace, "dir" | "readOnlyDirs" | "forbidden" | "labels"> {
  readonly viaDescriptors: boolean;
}

function createWorkspace(paths: PathResolver, parts: WorkspaceParts): Workspace {
  const { viaDescriptors, ...properties } = parts;
  return {
    ...properties,
    restrict: (isVisible) => createWorkspace(paths.restrict(isVisible), parts),
    locate: (path) => paths.locate(path),
    locateFolder: (path) =>
      paths.use(path, (place) => {
        assertFolder(place, path);
        return place.path;
      }),
    openTree: (path) => openTree(paths, path, viaDescriptors),
    openFile: (path) => openFile(paths, path),
    readBytes: (path, maxBytes) => readBytes(paths, path, maxBytes),
    list: (path) => paths.use(path, (place) => listFolder(paths, place, path)),
    writeFile: (path, content, how = {}) => writeFile(paths, { dir: parts.dir, path, content, ...how }),
    removeFile: (path) =>
      paths.use(path, async (place) => {
        assertWritable(place, path);
        if (place.type === undefined) throw new WorkspaceError("not_found", `There is no file ${path}.`);
        if (place.type !== "file") throw new WorkspaceError("not_a_file", `${path} is not a regular file.`);
        await unlink(place.access);
      }),
    removeFolder: (path) => removeFolder(paths, path),
  };
}

/**
 * Removes a folder relative to its parent. If another entry, for example a link, has replaced the folder in the
 * meantime, the entry is not a folder and stays.
 */
async function removeFolder(paths: PathResolver, path: string): Promise<void> {
  await paths.use(path, async (place) => assertFolder(place, path));
  await paths.use(dirname(path), async (parent) => {
    assertWritable(parent, path);
    await rmdir(`${parent.access}/${basename(path)}`);
  });
}

async function openTree(paths: PathResolver, path: string, viaDescriptors: boolean): Promise<FolderTree> {
  const place = await paths.open(path);
  try {
    assertFolder(place, path);
    return new FolderTree({
      path: place.path,
      handle: await open(`${place.access}/.`, FOLDER_FLAGS),
      viaDescriptors,
      assertOpen: (file) => paths.assertOpen({ root: place.root, path: file }, paths.displayPath(file)),
      displayPath: (file) => paths.displayPath(file),
    });
  } finally {
    await place.close();
  }
}

function openFile(paths: PathResolver, path: string): Promise<OpenFile> {
  return paths.use(path, (place) => {
    if (place.type === undefined) throw new WorkspaceError("not_found", `There is no file ${path}.`);
    if (place.type === "folder") throw new WorkspaceError("not_a_file", `${path} is a folder; use ls.`);
    if (place.type === "other") throw new WorkspaceError("not_a_file", `${path} is not a regular file.`);
    return openRegularFile(place.access, { path: place.path, displayPath: paths.displayPath(place.path) });
  });
}

async function readBytes(paths: PathResolver, path: string, maxBytes: number): Promise<Uint8Array> {
  const file = await openFile(paths, path);
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

async function listFolder(paths: PathResolver, place: Place, path: string): Promise<Folder> {
  assertFolder(place, path);
  const types = new Map<string, FolderEntry["type"]>();
  // Read in chunks, because reading all entries of a large folder at once would block the event loop.
  for await (const entry of await opendir(place.access, { bufferSize: ENTRIES_AT_ONCE }))
    types.set(entry.name, getEntryType(entry));
  const entries = [...types.keys()].sort().map((name) => ({ name, type: types.get(name) ?? "other" }));
  return { displayPath: paths.displayPath(place.path), path: place.path, entries };
}

interface WriteRequest extends WriteOptions {
  readonly dir: string;
  readonly path: string;
  readonly content: Uint8Array;
}

async function writeFile(
  paths: PathResolver,
  { dir, path, content, check, before }: WriteRequest,
): Promise<string> {
  // Check first, so that a refusal does not create folders.
  const expected = await paths.locate(path);
  check?.(expected);
  await before?.(resolve(dir, expected));
  if (/\/\.?$/.test(path))
    throw new WorkspaceError("not_a_file", `${path} names a folder; choose a file in it.`);
  const write = async (place: Place): Promise<string> => {
    assertWritable(place, path);
    if (place.type === "folder") throw new WorkspaceError("not_a_file", `${path} is a folder.`);
    if (place.type === "other") throw new WorkspaceError("not_a_file", `${path} is not a regular file.`);
    const displayPath = paths.displayPath(place.path);
    check?.(displayPath);
    if (place.path !== resolve(dir, expected)) await before?.(place.path);
    await replaceFile(place, content);
    return displayPath;
  };
  return paths.use(path, write, { createFolders: true });
}

function assertFolder(place: Place, path: string): void {
  if (place.type === undefined) throw new WorkspaceError("not_found", `There is no folder ${path}.`);
  if (place.type !== "folder") throw new WorkspaceError("not_a_folder", `${path} is a file, not a folder.`);
}

function assertWritable(place: Place, path: string): void {
  if (!place.root.writable) throw new WorkspaceError("read_only", `${path} can be read but not changed.`);
}

function getEntryType(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): FolderEntry["type"] {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}
