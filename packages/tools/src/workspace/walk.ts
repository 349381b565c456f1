import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { getErrorCode, HiddenPlaceError, WorkspaceError } from "./errors.ts";

/** A folder in which paths are resolved. */
export interface Root {
  /** Absolute path with links resolved. */
  readonly real: string;
  /** Path as configured. Absolute paths may begin with this path or with `real`. */
  readonly configured: string;
  readonly writable: boolean;
}

interface OpenFolder {
  readonly handle: FileHandle;
  /** Absolute path with links resolved. */
  readonly path: string;
}

interface EnteredFolder extends OpenFolder {
  readonly root: Root;
}

/** The location of a path: an open folder and a name in it. Call `close` after use. */
export interface Place {
  readonly root: Root;
  /** Path through the open folder, for file system calls of this process only. */
  readonly access: string;
  /** Path of the open folder, in the same form. */
  readonly folderAccess: string;
  /** Absolute path with links resolved. */
  readonly path: string;
  /** The type of the entry. Undefined if the entry does not exist. */
  readonly type: "file" | "folder" | "other" | undefined;
  close(): Promise<void>;
}

export interface WalkOptions {
  /** Creates missing folders in the path. */
  readonly createFolders?: boolean;
  /**
   * True if folders are opened through their descriptors (`/proc/self/fd`), which leaves no gap between checking and
   * opening. Default: true on Linux. On other systems, a process that creates links in the workspace at the right
   * moment could exploit the gap. The tools themselves cannot create links, and these systems have no sandboxed exec.
   */
  readonly viaDescriptors?: boolean;
  /**
   * Returns false for hidden paths, given as absolute paths without links. Hidden paths are refused by name, before
   * checking whether they exist. Default: nothing is hidden.
   */
  readonly isVisible?: (path: string) => boolean;
}

export const FOLDER_FLAGS: number = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const MAX_LINKS = 40;
const MAX_DEPTH = 256;

/**
 * Resolves a path component by component. Each component is opened relative to the previously opened folder, and never
 * as a link. Links are read and followed here, and only to locations below one of the roots. Concurrent changes
 * therefore cannot lead out of the roots.
 */
export async function walk(
  roots: readonly Root[],
  start: Root,
  parts: readonly string[],
  options: WalkOptions = {},
): Promise<Place> {
  const walking = new Walk(roots, options);
  try {
    return await walking.from(start, parts);
  } catch (error) {
    await walking.close();
    throw error;
  }
}

class Walk {
  readonly #roots: readonly Root[];
  readonly #viaDescriptors: boolean;
  readonly #makeFolders: boolean;
  readonly #isVisible: (path: string) => boolean;
  readonly #stack: EnteredFolder[] = [];
  #todo: string[] = [];
  #links = 0;

  constructor(roots: readonly Root[], options: WalkOptions) {
    this.#roots = roots;
    this.#viaDescriptors = usesDescriptors(options);
    this.#makeFolders = options.createFolders === true;
    this.#isVisible = options.isVisible ?? (() => true);
  }

  async from(start: Root, parts: readonly string[]): Promise<Place> {
    this.#todo = [...parts];
    await this.#enterRoot(start);
    for (;;) {
      const name = this.#todo.shift();
      const end = name === undefined ? await this.#place(undefined, "folder") : await this.#step(name);
      if (end !== undefined) return end;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#stack.splice(0).map((folder) => folder.handle.close()));
  }

  /** Resolves one component. Returns undefined if it is not the last one. */
  async #step(name: string): Promise<Place | undefined> {
    if (name === ".") return undefined;
    if (name === "..") {
      await this.#stack.pop()?.handle.close();
      this.#top();
      return undefined;
    }
    if (this.#stack.length > MAX_DEPTH) throw new WorkspaceError("bad_path", "The path is too deep.");
    if (!this.#isVisible(join(this.#top().path, name))) throw new HiddenPlaceError(name);
    const last = this.#todo.every((part) => part === ".");
    const type = await getType(this.#getAccessPath(name));
    if (type === "link") {
      await this.#follow(name);
    } else if (type === undefined && (last || !this.#makeFolders)) {
      if (last) return this.#place(name, undefined);
      throw new WorkspaceError("not_found", `The folder ${name} does not exist.`);
    } else if (last && type !== "folder") {
      return this.#place(name, type);
    } else if (type === "file" || type === "other") {
      throw new WorkspaceError("not_a_folder", `${name} is a file, not a folder.`);
    } else {
      if (type === undefined) await createFolder(this.#getAccessPath(name), this.#top().root);
      const handle = await openFolder(this.#getAccessPath(name), name);
      this.#stack.push({ handle, root: this.#top().root, path: join(this.#top().path, name) });
    }
    return undefined;
  }

  async #follow(name: string): Promise<void> {
    this.#links += 1;
    if (this.#links > MAX_LINKS) throw new WorkspaceError("loop", "The path goes through too many links.");
    const target = await readlink(this.#getAccessPath(name));
    if (!target.startsWith("/")) {
      this.#todo.unshift(...splitPath(target));
      return;
    }
    const inRoot = findRoot(this.#roots, target);
    if (inRoot === undefined) throw new WorkspaceError("outside", `${name} is a link out of the workspace.`);
    await this.#enterRoot(inRoot.root);
    this.#todo.unshift(...inRoot.parts);
  }

  async #enterRoot(root: Root): Promise<void> {
    await this.close();
    this.#stack.push({ handle: await open(root.real, FOLDER_FLAGS), root, path: root.real });
  }

  #top(): EnteredFolder {
    const folder = this.#stack.at(-1);
    if (folder === undefined) throw new WorkspaceError("outside", "The path leads out of the workspace.");
    return folder;
  }

  #getAccessPath(name: string): string {
    return `${getAccessPath(this.#top(), this.#viaDescriptors)}/${name}`;
  }

  async #place(name: string | undefined, type: Place["type"]): Promise<Place> {
    const folder = this.#top();
    const folderAccess = await getCheckedAccessPath(folder, this.#viaDescriptors);
    return {
      root: folder.root,
      access: name === undefined ? folderAccess : `${folderAccess}/${name}`,
      folderAccess,
      path: name === undefined ? folder.path : join(folder.path, name),
      type,
      close: () => this.close(),
    };
  }
}

export function usesDescriptors({ viaDescriptors }: WalkOptions): boolean {
  return viaDescriptors ?? process.platform === "linux";
}

function getAccessPath({ handle, path }: OpenFolder, viaDescriptors: boolean): string {
  return viaDescriptors ? `/proc/self/fd/${handle.fd}` : path;
}

/**
 * Returns a path to the content of an open folder. Without descriptors, checks immediately before use that the folder
 * was not replaced.
 */
export async function getCheckedAccessPath(folder: OpenFolder, viaDescriptors: boolean): Promise<string> {
  if (!viaDescriptors && (await realpath(folder.path)) !== folder.path)
    throw new WorkspaceError("changed", "The folder was replaced while it was being opened.");
  return getAccessPath(folder, viaDescriptors);
}

/** Returns the innermost root that contains an absolute path, and the components below it. */
export function findRoot(
  roots: readonly Root[],
  path: string,
): { readonly root: Root; readonly parts: readonly string[] } | undefined {
  let best: { root: Root; prefix: string } | undefined;
  for (const root of roots) {
    for (const prefix of [root.real, root.configured]) {
      const inside = path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
      if (inside && (best === undefined || prefix.length > best.prefix.length)) best = { root, prefix };
    }
  }
  return best === undefined
    ? undefined
    : { root: best.root, parts: splitPath(path.slice(best.prefix.length)) };
}

export function splitPath(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

async function getType(path: string): Promise<"file" | "folder" | "link" | "other" | undefined> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return "link";
    if (stat.isFile()) return "file";
    return stat.isDirectory() ? "folder" : "other";
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function createFolder(path: string, root: Root): Promise<void> {
  if (!root.writable) throw new WorkspaceError("read_only", "This folder can be read but not changed.");
  try {
    await mkdir(path);
  } catch (error) {
    if (getErrorCode(error) !== "EEXIST") throw error;
  }
}

async function openFolder(path: string, name: string): Promise<FileHandle> {
  try {
    return await open(path, FOLDER_FLAGS);
  } catch (error) {
    const code = getErrorCode(error);
    // The folder was checked immediately before.
    if (code === "ELOOP" || code === "ENOTDIR" || code === "ENOENT") {
      throw new WorkspaceError("changed", `${name} was replaced while it was being opened.`, {
        cause: error,
      });
    }
    throw error;
  }
}
