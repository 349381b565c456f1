import { open, opendir, unlink } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { type FileLabels, openFileLabels } from "../labels/file-labels.ts";
import { createMemoryLabelStore } from "../labels/label.ts";
import { explained, outside, WorkspaceError } from "./errors.ts";
import { FolderTree } from "./folder-tree.ts";
import { type OpenFile, openRegularFile, readWhole } from "./open-file.ts";
import { fold, inside, realFolder, realOrGiven } from "./paths.ts";
import { replaceFile } from "./replace-file.ts";
import {
  FOLDER_FLAGS,
  findRoot,
  leadsThroughDescriptors,
  type Place,
  type Root,
  splitPath,
  type WalkOptions,
  walk,
} from "./walk.ts";

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

export interface Folder {
  /** As the agent would write it. */
  readonly displayPath: string;
  /** Absolute, without links. */
  readonly path: string;
  /** By name. */
  readonly entries: readonly FolderEntry[];
}

export interface WriteOptions {
  /** Refuses after the path was followed and before anything is changed; gets the display path. */
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
  /** Opens a folder for whoever looks at many files below it. */
  openTree(path: string): Promise<FolderTree>;
  /** Opens a regular file for reading. */
  openFile(path: string): Promise<OpenFile>;
  /** Reads a whole file; refuses one of more bytes. For hosts that attach what an agent names. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array>;
  list(path: string): Promise<Folder>;
  /** Replaces or makes a file in one step, with the folders on the way. Gives its display path. */
  writeFile(path: string, content: Uint8Array, options?: WriteOptions): Promise<string>;
  /** Removes a regular file of a folder that can be written to. For hosts that clear away what they put there. */
  removeFile(path: string): Promise<void>;
}

const MAX_PATH = 4_096;
const ENTRIES_AT_ONCE = 500;

/** Opens a workspace. Throws `WorkspaceError` `not-found` or `not-a-folder` for its folder. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const dir = await realFolder(options.dir);
  const home: Root = { real: dir, given: resolve(options.dir), writable: true };
  const readable: Root[] = [];
  for (const extra of options.readOnlyDirs ?? []) {
    const real = await realFolder(extra).catch(() => undefined);
    if (real !== undefined) readable.push({ real, given: resolve(extra), writable: false });
  }
  const roots = [home, ...readable];
  const closed = await Promise.all((options.forbidden ?? []).map(realOrGiven));
  const forbidden = closed.flat().map(fold);
  const walkOptions: WalkOptions =
    options.viaDescriptors === undefined ? {} : { viaDescriptors: options.viaDescriptors };

  const assertOpen = (place: Pick<Place, "path" | "root">, given: string): void => {
    const path = fold(place.path);
    const root = fold(place.root.real);
    if (forbidden.some((each) => inside(path, each) && !inside(root, each)))
      throw new WorkspaceError("forbidden", `${given} belongs to the gateway and is closed to tools.`);
  };
  const displayPath = (path: string): string => {
    if (!inside(path, dir)) return path;
    const short = relative(dir, path);
    return short === "" ? "." : short;
  };
  const reach = async (path: string, extra: WalkOptions = {}): Promise<Place> => {
    const { root, parts } = start(path);
    const place = await walk(roots, root, parts, { ...walkOptions, ...extra }).catch((error: unknown) => {
      throw explained(error, path);
    });
    try {
      assertOpen(place, path);
      return place;
    } catch (error) {
      await place.close();
      throw error;
    }
  };
  const start = (path: string): { readonly root: Root; readonly parts: readonly string[] } => {
    if (path === "") throw new WorkspaceError("bad-path", "The path is empty.");
    if (path.includes("\0")) throw new WorkspaceError("bad-path", "The path holds a NUL character.");
    if (path.length > MAX_PATH) throw new WorkspaceError("bad-path", "The path is too long.");
    if (!isAbsolute(path)) return { root: home, parts: splitPath(path) };
    const inRoot = findRoot(roots, path);
    if (inRoot === undefined) throw outside(path);
    return inRoot;
  };

  const openFile = async (path: string): Promise<OpenFile> => {
    const place = await reach(path);
    try {
      if (place.type === undefined) throw new WorkspaceError("not-found", `There is no file ${path}.`);
      if (place.type === "folder") throw new WorkspaceError("not-a-file", `${path} is a folder; use ls.`);
      if (place.type === "other") throw new WorkspaceError("not-a-file", `${path} is not a regular file.`);
      return await openRegularFile(place.access, { path: place.path, displayPath: displayPath(place.path) });
    } catch (error) {
      throw explained(error, path);
    } finally {
      await place.close();
    }
  };

  const locate = async (path: string): Promise<string> => {
    const { root, parts } = start(path);
    const depth = parts.length;
    // What does not exist yet has no links: the part that exists decides where the rest will be.
    for (let existing = depth; existing >= 0; existing--) {
      try {
        const place = await walk(roots, root, parts.slice(0, existing), walkOptions);
        await place.close();
        assertOpen(place, path);
        const rest = parts.slice(existing);
        if (rest.includes(".."))
          throw new WorkspaceError("not-found", `There is no folder on the way to ${path}.`);
        return displayPath([place.path, ...rest.filter((part) => part !== ".")].join("/"));
      } catch (error) {
        if (existing === 0 || !(error instanceof WorkspaceError) || error.code !== "not-found") {
          throw explained(error, path);
        }
      }
    }
    throw outside(path);
  };

  return {
    dir,
    readOnlyDirs: readable.map((root) => root.real),
    forbidden: closed.flat(),
    labels: options.labels ?? (await openFileLabels(createMemoryLabelStore())),

    locate,
    openFile,

    async locateFolder(path) {
      const place = await reach(path);
      await place.close();
      mustBeFolder(place, path);
      return place.path;
    },

    async openTree(path) {
      const place = await reach(path);
      try {
        mustBeFolder(place, path);
        return new FolderTree({
          path: place.path,
          handle: await open(`${place.access}/.`, FOLDER_FLAGS),
          viaDescriptors: leadsThroughDescriptors(walkOptions),
          assertOpen: (file) => assertOpen({ root: place.root, path: file }, displayPath(file)),
          displayPath,
        });
      } finally {
        await place.close();
      }
    },

    async readBytes(path, maxBytes) {
      const file = await openFile(path);
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
    },

    async list(path) {
      const place = await reach(path);
      try {
        mustBeFolder(place, path);
        const types = new Map<string, FolderEntry["type"]>();
        // In portions: all entries of a large folder at once would hold everybody else up.
        for await (const entry of await opendir(place.access, { bufferSize: ENTRIES_AT_ONCE }))
          types.set(entry.name, entryType(entry));
        const entries = [...types.keys()].sort().map((name) => ({ name, type: types.get(name) ?? "other" }));
        return { displayPath: displayPath(place.path), path: place.path, entries };
      } catch (error) {
        throw explained(error, path);
      } finally {
        await place.close();
      }
    },

    async writeFile(path, content, writeOptions = {}) {
      // Looked at first, so that a refusal leaves no new folders behind.
      const expected = await locate(path);
      writeOptions.check?.(expected);
      await writeOptions.before?.(resolve(dir, expected));
      if (/\/\.?$/.test(path))
        throw new WorkspaceError("not-a-file", `${path} names a folder; name a file in it.`);
      const place = await reach(path, { makeFolders: true });
      try {
        mustBeWritable(place, path);
        if (place.type === "folder") throw new WorkspaceError("not-a-file", `${path} is a folder.`);
        if (place.type === "other") throw new WorkspaceError("not-a-file", `${path} is not a regular file.`);
        writeOptions.check?.(displayPath(place.path));
        if (place.path !== resolve(dir, expected)) await writeOptions.before?.(place.path);
        await replaceFile(place, content);
        return displayPath(place.path);
      } catch (error) {
        throw explained(error, path);
      } finally {
        await place.close();
      }
    },

    async removeFile(path) {
      const place = await reach(path);
      try {
        mustBeWritable(place, path);
        if (place.type === undefined) throw new WorkspaceError("not-found", `There is no file ${path}.`);
        if (place.type !== "file") throw new WorkspaceError("not-a-file", `${path} is not a regular file.`);
        await unlink(place.access);
      } catch (error) {
        throw explained(error, path);
      } finally {
        await place.close();
      }
    },
  };
}

function mustBeFolder(place: Place, path: string): void {
  if (place.type === undefined) throw new WorkspaceError("not-found", `There is no folder ${path}.`);
  if (place.type !== "folder") throw new WorkspaceError("not-a-folder", `${path} is a file, not a folder.`);
}

function mustBeWritable(place: Place, path: string): void {
  if (!place.root.writable) throw new WorkspaceError("read-only", `${path} can be read but not changed.`);
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
