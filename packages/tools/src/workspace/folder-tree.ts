import { type FileHandle, lstat, open } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { outside } from "./errors.ts";
import { type OpenFile, openRegularFile } from "./open-file.ts";
import { checkedAccessTo, FOLDER_FLAGS } from "./walk.ts";

/** Maximum number of folders that stay open for further files. */
const MAX_HELD = 64;

interface HeldFolder {
  readonly opened: Promise<FileHandle>;
  /** Number of operations that use the folder at the moment. */
  users: number;
}

export interface FolderTreeOptions {
  /** Absolute path with links resolved. */
  readonly path: string;
  /** Handle of the folder. The tree closes it. */
  readonly handle: FileHandle;
  readonly viaDescriptors: boolean;
  /** Throws if the absolute path is closed to tools. */
  readonly assertOpen: (path: string) => void;
  readonly displayPath: (path: string) => string;
}

/**
 * A folder and everything below it, for opening many of its files. Links are never followed, and each folder is opened
 * once. Paths are relative to the folder. Close it after use.
 */
export class FolderTree {
  /** Absolute path with links resolved. */
  readonly path: string;
  readonly #options: FolderTreeOptions;
  readonly #held = new Map<string, HeldFolder>();
  readonly #looks = new Set<Promise<unknown>>();

  constructor(options: FolderTreeOptions) {
    this.path = options.path;
    this.#options = options;
  }

  /** Descriptor of the folder, if files can be opened through it. Open as long as the tree. */
  get descriptor(): number | undefined {
    const { viaDescriptors, handle } = this.#options;
    return viaDescriptors ? handle.fd : undefined;
  }

  openFile(path: string): Promise<OpenFile> {
    return this.#look(path, (access, absolute) =>
      openRegularFile(access, { path: absolute, displayPath: this.#options.displayPath(absolute) }),
    );
  }

  /** Returns true if the path is a regular file. */
  isFile(path: string): Promise<boolean> {
    return this.#look(path, async (access) => (await lstat(access)).isFile()).catch(() => false);
  }

  async close(): Promise<void> {
    // The descriptor number of a closed folder may be reused for another one.
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
    // Retry with the next file, for example if too many files were open.
    opened.catch(() => {
      if (this.#held.get(folder) === held) this.#held.delete(folder);
    });
    return held;
  }

  /** Closes the oldest unused folder if too many are open. */
  #letGo(): void {
    if (this.#held.size < MAX_HELD) return;
    const spare = [...this.#held].find(([, { users }]) => users === 0);
    if (spare === undefined) return;
    this.#held.delete(spare[0]);
    void closed(spare[1]);
  }
}

/** Closes a folder. Errors are ignored, because callers cannot handle them. */
function closed({ opened }: HeldFolder): Promise<void> {
  return opened.then((handle) => handle.close()).catch(() => {});
}
