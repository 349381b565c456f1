import { type FileHandle, lstat, open } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { outside } from "./errors.ts";
import { type OpenFile, openRegularFile } from "./open-file.ts";
import { checkedAccessTo, FOLDER_FLAGS } from "./walk.ts";

/** Folders that stay open for the next file. */
const MAX_HELD = 64;

interface HeldFolder {
  readonly opened: Promise<FileHandle>;
  /** What is being opened through it just now. */
  users: number;
}

export interface FolderTreeOptions {
  /** Absolute, without links. */
  readonly path: string;
  /** That folder. It belongs to the tree from now on. */
  readonly handle: FileHandle;
  readonly viaDescriptors: boolean;
  /** Throws for what is closed to tools; gets the absolute path. */
  readonly assertOpen: (path: string) => void;
  readonly displayPath: (path: string) => string;
}

/**
 * A folder and everything below it, for opening many of its files: links are never followed, and each folder on the way
 * is opened once. Paths are relative to the folder. Close it after use.
 */
export class FolderTree {
  /** Absolute, without links. */
  readonly path: string;
  readonly #options: FolderTreeOptions;
  readonly #held = new Map<string, HeldFolder>();
  readonly #looks = new Set<Promise<unknown>>();

  constructor(options: FolderTreeOptions) {
    this.path = options.path;
    this.#options = options;
  }

  /** Of the folder, where what is below it can be reached through that. Open as long as the tree. */
  get descriptor(): number | undefined {
    const { viaDescriptors, handle } = this.#options;
    return viaDescriptors ? handle.fd : undefined;
  }

  openFile(path: string): Promise<OpenFile> {
    return this.#look(path, (access, absolute) =>
      openRegularFile(access, { path: absolute, displayPath: this.#options.displayPath(absolute) }),
    );
  }

  /** Whether there is a regular file. */
  isFile(path: string): Promise<boolean> {
    return this.#look(path, async (access) => (await lstat(access)).isFile()).catch(() => false);
  }

  async close(): Promise<void> {
    // The number of a folder that is closed may soon be that of another one.
    await Promise.allSettled(this.#looks);
    const held = [...this.#held.values()];
    this.#held.clear();
    await Promise.allSettled([this.#options.handle.close(), ...held.map(closed)]);
  }

  async #look<Result>(
    path: string,
    work: (access: string, absolute: string) => Promise<Result>,
  ): Promise<Result> {
    if (isAbsolute(path) || path.split("/").includes("..")) throw outside(path);
    const absolute = join(this.path, path);
    this.#options.assertOpen(absolute);
    const look = this.#inFolderOf(path, (access) => work(access, absolute));
    this.#looks.add(look);
    try {
      return await look;
    } finally {
      this.#looks.delete(look);
    }
  }

  #inFolderOf<Result>(path: string, work: (access: string) => Promise<Result>): Promise<Result> {
    return this.#in(dirname(path), (access) => work(`${access}/${basename(path)}`));
  }

  async #in<Result>(folder: string, work: (access: string) => Promise<Result>): Promise<Result> {
    const { viaDescriptors, handle } = this.#options;
    if (folder === ".") return work(await checkedAccessTo({ handle, path: this.path }, viaDescriptors));
    const held = this.#hold(folder);
    held.users += 1;
    try {
      const way = { handle: await held.opened, path: join(this.path, folder) };
      return await work(await checkedAccessTo(way, viaDescriptors));
    } finally {
      held.users -= 1;
    }
  }

  #hold(folder: string): HeldFolder {
    const known = this.#held.get(folder);
    if (known !== undefined) return known;
    this.#letGo();
    const opened = this.#inFolderOf(folder, (access) => open(access, FOLDER_FLAGS));
    const held = { opened, users: 0 };
    this.#held.set(folder, held);
    // Too many open files, say: the next file of it tries again.
    opened.catch(() => {
      if (this.#held.get(folder) === held) this.#held.delete(folder);
    });
    return held;
  }

  /** Of folders that are not in use the oldest, where there are too many. */
  #letGo(): void {
    if (this.#held.size < MAX_HELD) return;
    const spare = [...this.#held].find(([, { users }]) => users === 0);
    if (spare === undefined) return;
    this.#held.delete(spare[0]);
    void closed(spare[1]);
  }
}

/** What could not be opened need not be closed, and that a folder could not be closed is of no use to anybody. */
function closed({ opened }: HeldFolder): Promise<void> {
  return opened.then((handle) => handle.close()).catch(() => {});
}
