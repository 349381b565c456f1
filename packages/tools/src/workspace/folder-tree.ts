import { type FileHandle, lstat, open } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { createOutsideError } from "./errors.ts";
import { type OpenFile, openRegularFile } from "./open-file.ts";
import { FOLDER_FLAGS, getCheckedAccessPath } from "./walk.ts";

/** Maximum number of folders that stay open for further files. */
const MAX_CACHED = 64;

interface CachedFolder {
  readonly opened: Promise<FileHandle>;
  /** Number of operations that are currently using the folder. */
  users: number;
}

export interface FolderTreeOptions {
  /** Absolute path with links resolved. */
  readonly path: string;
  /** Handle of the folder. The tree closes it. */
  readonly handle: FileHandle;
  readonly viaDescriptors: boolean;
  /** Throws if tools may not use the absolute path. */
  readonly assertOpen: (path: string) => void;
  readonly displayPath: (path: string) => string;
}

/**
 * A folder and everything below it, for opening many of its files. Links are never followed, and each folder is opened
 * once. Paths are relative to the folder. Close the tree after use.
 */
export class FolderTree {
  /** Absolute path with links resolved. */
  readonly path: string;
  readonly #options: FolderTreeOptions;
  readonly #cached = new Map<string, CachedFolder>();
  readonly #operations = new Set<Promise<unknown>>();

  constructor(options: FolderTreeOptions) {
    this.path = options.path;
    this.#options = options;
  }

  /** Descriptor of the folder, if files can be opened through it. It stays open as long as the tree. */
  get descriptor(): number | undefined {
    const { viaDescriptors, handle } = this.#options;
    return viaDescriptors ? handle.fd : undefined;
  }

  openFile(path: string): Promise<OpenFile> {
    return this.#run(path, (access, absolute) =>
      openRegularFile(access, { path: absolute, displayPath: this.#options.displayPath(absolute) }),
    );
  }

  /** Returns true if the path is a regular file. */
  isFile(path: string): Promise<boolean> {
    return this.#run(path, async (access) => (await lstat(access)).isFile()).catch(() => false);
  }

  async close(): Promise<void> {
    // The descriptor number of a closed folder may be reused for another folder.
    await Promise.allSettled(this.#operations);
    const cached = [...this.#cached.values()];
    this.#cached.clear();
    await Promise.allSettled([this.#options.handle.close(), ...cached.map(closeFolder)]);
  }

  async #run<Result>(
    path: string,
    work: (access: string, absolute: string) => Promise<Result>,
  ): Promise<Result> {
    if (isAbsolute(path) || path.split("/").includes("..")) throw createOutsideError(path);
    const absolute = join(this.path, path);
    this.#options.assertOpen(absolute);
    const operation = this.#withParent(path, (access) => work(access, absolute));
    this.#operations.add(operation);
    try {
      return await operation;
    } finally {
      this.#operations.delete(operation);
    }
  }

  #withParent<Result>(path: string, work: (access: string) => Promise<Result>): Promise<Result> {
    return this.#withFolder(dirname(path), (access) => work(`${access}/${basename(path)}`));
  }

  async #withFolder<Result>(folder: string, work: (access: string) => Promise<Result>): Promise<Result> {
    const { viaDescriptors, handle } = this.#options;
    if (folder === ".") return work(await getCheckedAccessPath({ handle, path: this.path }, viaDescriptors));
    const cached = this.#getFolder(folder);
    cached.users += 1;
    try {
      const opened = { handle: await cached.opened, path: join(this.path, folder) };
      return await work(await getCheckedAccessPath(opened, viaDescriptors));
    } finally {
      cached.users -= 1;
    }
  }

  #getFolder(folder: string): CachedFolder {
    const known = this.#cached.get(folder);
    if (known !== undefined) return known;
    this.#evict();
    const opened = this.#withParent(folder, (access) => open(access, FOLDER_FLAGS));
    const cached = { opened, users: 0 };
    this.#cached.set(folder, cached);
    // Retry with the next file, for example if too many files were open.
    opened.catch(() => {
      if (this.#cached.get(folder) === cached) this.#cached.delete(folder);
    });
    return cached;
  }

  /** Closes the oldest unused folder if too many are open. */
  #evict(): void {
    if (this.#cached.size < MAX_CACHED) return;
    const spare = [...this.#cached].find(([, { users }]) => users === 0);
    if (spare === undefined) return;
    this.#cached.delete(spare[0]);
    void closeFolder(spare[1]);
  }
}

/** Closes a folder. Errors are ignored, because callers cannot handle them. */
function closeFolder({ opened }: CachedFolder): Promise<void> {
  return opened.then((handle) => handle.close()).catch(() => {});
}
