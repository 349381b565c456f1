import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import type { RunFacts } from "../types.ts";
import { fold, isInside } from "../workspace/paths.ts";
import {
  type Author,
  type FileLabel,
  getAuthor,
  isForeign,
  type LabelStore,
  type OpenCommand,
} from "./label.ts";
import {
  type FolderInodes,
  findChanges,
  findInode,
  getFileSystemTime,
  getInode,
  listFolders,
} from "./tree.ts";

/** Labels of the files that others wrote. All agents share them, because workspaces may share folders. */
export interface FileLabels {
  /** Returns the label of a path: its own label, or the label of a folder that contains it. */
  get(path: string): FileLabel | undefined;
  /** Returns the label of the entry itself. In this case, others also chose its name. */
  getOwn(path: string): FileLabel | undefined;
  list(folder: string): readonly FileLabel[];
  /** Number of labels added so far. A caller compares it to detect new labels. */
  readonly additions: number;
  add(labels: readonly FileLabel[]): Promise<void>;
  /** Removes labels after an owner has replaced the files or marked them as trusted. */
  remove(paths: readonly string[]): Promise<void>;
  /** Labels a file that a run is about to write with its author, including new folders on its path. */
  write(path: string, author: Author): Promise<void>;
  /** Returns another command that is changing files in a folder and that the run must not trust, if any. */
  findChanging(folder: string, facts: RunFacts): OpenCommand | undefined;
  /**
   * Reads the labels that another process stored, and labels the changes of its commands that were running when it
   * ended, in the folders that `isOwn` accepts. Call this before working in a folder that another process worked in.
   */
  takeOver(isOwn: (folder: string) => boolean): Promise<void>;
  /** Tracks the changes of a command that may write to a workspace. */
  track(command: TrackedCommand): Promise<CommandTracker>;
}

interface TrackedCommand {
  /** The workspace folder. */
  readonly folder: string;
  readonly facts: RunFacts;
  /** Paths in the folder that are not examined, because they are already labelled or closed. */
  readonly skip: ReadonlySet<string>;
  /** Paths that are hidden from the command. The command may still move them together with a parent folder. */
  readonly covered: readonly string[];
  /** The value of {@link FileLabels.additions} when the view of the command was computed. */
  readonly additions: number;
}

interface CommandTracker {
  /**
   * Call this when all processes of the command have ended. Labels its changes. If others changed files at the same
   * time, returns the author of the content that may have reached the command.
   */
  end(): Promise<Author | undefined>;
}

/**
 * Opens labels on top of a store. First labels the changes of commands that were running when an earlier process ended.
 *
 * @param isOwn returns false for folders that another process works in. See {@link FileLabels.takeOver}. Default:
 * always true
 */
export async function openFileLabels(
  store: LabelStore,
  isOwn: (folder: string) => boolean = () => true,
): Promise<FileLabels> {
  const all = new LabelledFiles(store);
  await all.takeOver(isOwn);
  return all;
}

class LabelledFiles implements FileLabels {
  readonly #store: LabelStore;
  readonly #labels = new Map<string, FileLabel>();
  readonly #open = new Set<OpenCommand>();
  /** Paths whose labels are not stored yet or could not be stored, for example because the disk is full. */
  readonly #unsaved = new Set<string>();
  /** The value of `additions` after the latest change to each path. */
  readonly #addedAt = new Map<string, number>();
  #additions = 0;

  constructor(store: LabelStore) {
    this.#store = store;
  }

  async takeOver(isOwn: (folder: string) => boolean): Promise<void> {
    const before = this.#additions;
    const { labels, commands } = await this.#store.load();
    const stored = new Set(labels.map(({ path }) => fold(path)));
    // Labels that were added during the read may be missing from it.
    for (const path of this.#labels.keys())
      if (!stored.has(path) && !this.#unsaved.has(path) && (this.#addedAt.get(path) ?? 0) <= before)
        this.#labels.delete(path);
    for (const label of labels)
      if (!this.#unsaved.has(fold(label.path))) this.#labels.set(fold(label.path), label);
    const open = new Set([...this.#open].map(({ id }) => id));
    for (const command of commands)
      if (!open.has(command.id) && isOwn(command.folder)) await this.#labelMissedChanges(command);
  }

  get(path: string): FileLabel | undefined {
    let place = fold(path);
    const own = this.#labels.get(place);
    if (own !== undefined) return own;
    for (let above = dirname(place); above !== place; above = dirname(above)) {
      const label = this.#labels.get(above);
      if (label?.kind === "tree") return label;
      place = above;
    }
    return undefined;
  }

  getOwn(path: string): FileLabel | undefined {
    return this.#labels.get(fold(path));
  }

  list(folder: string): readonly FileLabel[] {
    const prefix = `${fold(folder)}/`;
    return [...this.#labels].flatMap(([path, label]) => (path.startsWith(prefix) ? [label] : []));
  }

  get additions(): number {
    return this.#additions;
  }

  async add(labels: readonly FileLabel[]): Promise<void> {
    const added = labels.filter((label) => {
      return this.#unsaved.has(fold(label.path)) || !isSame(this.getOwn(label.path), label);
    });
    if (added.length === 0) return;
    const covered: string[] = [];
    for (const label of added) {
      if (label.kind === "tree") covered.push(...this.list(label.path).map(({ path }) => path));
      this.#labels.set(fold(label.path), label);
      this.#unsaved.add(fold(label.path));
      this.#additions += 1;
      this.#addedAt.set(fold(label.path), this.#additions);
    }
    await this.#store.put(added);
    for (const { path } of added) this.#unsaved.delete(fold(path));
    if (covered.length > 0) await this.remove(covered);
  }

  async remove(paths: readonly string[]): Promise<void> {
    const labelled = paths.filter((path) => this.#labels.delete(fold(path)));
    for (const path of labelled) {
      this.#addedAt.delete(fold(path));
      this.#unsaved.delete(fold(path));
    }
    if (labelled.length > 0) await this.#store.remove(labelled);
  }

  async write(path: string, author: Author): Promise<void> {
    const paths = [path];
    let folder = dirname(path);
    while (getInode(folder) === undefined && folder !== dirname(folder)) {
      paths.push(folder);
      folder = dirname(folder);
    }
    await this.add(paths.map((each): FileLabel => ({ ...author, path: each, kind: "entry" })));
  }

  findChanging(folder: string, facts: RunFacts): OpenCommand | undefined {
    return this.#findOpenCommands(folder).find(({ author }) => isForeign(author, facts));
  }

  async track({ folder, facts, skip, covered, additions }: TrackedCommand): Promise<CommandTracker> {
    const author = getAuthor(facts);
    const since = getFileSystemTime(folder);
    const inodes = getInodes(covered);
    const open = author && { id: randomUUID(), folder, since: String(since), author };
    const before = open && (await this.#begin(open, skip));
    return {
      end: async () => {
        const foreign = this.#findForeignAuthor(folder, facts, open, additions);
        await this.#moveLabels(inodes, folder, skip);
        const changedBy = foreign ?? author;
        if (changedBy !== undefined) await this.#labelChanges(folder, since, before, skip, changedBy);
        if (open !== undefined) {
          this.#open.delete(open);
          await this.#store.end(open.id);
        }
        return foreign;
      },
    };
  }

  /** Completes before the command starts. Lists the folders and stores the record in parallel. */
  async #begin(open: OpenCommand, skip: ReadonlySet<string>): Promise<FolderInodes> {
    this.#open.add(open);
    try {
      const [before] = await Promise.all([listFolders(open.folder, skip), this.#store.begin(open)]);
      return before;
    } catch (error) {
      // The command does not start, so it does not change any files.
      this.#open.delete(open);
      throw error;
    }
  }

  /** Labels the changes of a command that was running when an earlier process ended. */
  async #labelMissedChanges({ id, folder, since, author }: OpenCommand): Promise<void> {
    await this.#labelChanges(folder, BigInt(since), undefined, new Set(), author);
    await this.#store.end(id);
  }

  /**
   * Returns the author of foreign content that entered a folder while an untainted command was running there, if any.
   */
  #findForeignAuthor(
    folder: string,
    facts: RunFacts,
    own: OpenCommand | undefined,
    additions: number,
  ): Author | undefined {
    if (facts.taint.length > 0) return undefined;
    const open = this.#findOpenCommands(folder).find((each) => each !== own && isForeign(each.author, facts));
    if (open !== undefined) return { source: open.author.source };
    const label = this.list(folder).find(
      (each) => (this.#addedAt.get(fold(each.path)) ?? 0) > additions && isForeign(each, facts),
    );
    return label && { source: label.source };
  }

  #findOpenCommands(folder: string): readonly OpenCommand[] {
    return [...this.#open].filter((open) => overlap(open.folder, folder));
  }

  async #labelChanges(
    folder: string,
    since: bigint,
    before: FolderInodes | undefined,
    skip: ReadonlySet<string>,
    author: Author,
  ): Promise<void> {
    const { entries, trees } = await findChanges(folder, since, before, skip);
    await this.add([
      ...trees.map((path): FileLabel => ({ ...author, path, kind: "tree" })),
      ...entries.map((path): FileLabel => ({ ...author, path, kind: "entry" })),
    ]);
  }

  /**
   * Moves the labels of a covered file that was moved. A command cannot move the file itself, but it can move a folder
   * that contains the file.
   */
  async #moveLabels(
    inodes: ReadonlyMap<string, bigint>,
    folder: string,
    skip: ReadonlySet<string>,
  ): Promise<void> {
    for (const [path, inode] of inodes) {
      if (getInode(path) === inode) continue;
      const place = await findInode(folder, inode, skip);
      if (place === undefined) continue;
      const labels = [...this.#listOwn(path), ...this.list(path)];
      await this.add(labels.map((label) => ({ ...label, path: `${place}${label.path.slice(path.length)}` })));
      await this.remove(labels.map((label) => label.path));
    }
  }

  #listOwn(path: string): readonly FileLabel[] {
    const label = this.getOwn(path);
    return label === undefined ? [] : [label];
  }
}

function getInodes(paths: readonly string[]): ReadonlyMap<string, bigint> {
  const inodes = new Map<string, bigint>();
  for (const path of paths) {
    const inode = getInode(path);
    if (inode !== undefined) inodes.set(path, inode);
  }
  return inodes;
}

function overlap(a: string, b: string): boolean {
  return isInside(fold(a), fold(b)) || isInside(fold(b), fold(a));
}

function isSame(a: FileLabel | undefined, b: FileLabel): boolean {
  return a !== undefined && a.kind === b.kind && a.source === b.source && a.by === b.by;
}
