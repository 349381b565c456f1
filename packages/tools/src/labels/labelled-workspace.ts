import { join } from "node:path";
import { INBOX_FOLDER } from "../files/places.ts";
import type { Permit, TaintMark } from "../types.ts";
import { fold, isInside } from "../workspace/paths.ts";
import type { FolderEntry, Workspace } from "../workspace/workspace.ts";
import { type Author, type FileLabel, getAuthor, isForeign } from "./label.ts";

/** Applies labels when a tool reads or writes files: reading taints the run, and writing labels the file. */
export interface LabelledWorkspace {
  /** Returns the taint for a run that reads the file now. */
  getTaint(path: string, changedAt: bigint, run: Permit["run"]): TaintMark | undefined;
  /** Taints the run after it has read a file. */
  recordRead(path: string, changedAt: bigint, run: Permit["run"]): void;
  /** Taints the run after it has read the names of a folder's entries. */
  recordListing(folder: string, entries: readonly FolderEntry[], run: Permit["run"]): void;
  /** Labels a file that the run is about to write. If a person approved the write, the content is trusted. */
  beforeWrite(path: string, permit: Permit): Promise<void>;
  /**
   * Removes the label of a file whose content the run has replaced completely. `path` is the path that the workspace
   * displays.
   */
  recordReplacement(path: string, permit: Permit): Promise<void>;
}

export function createLabelledWorkspace({ dir, labels }: Workspace): LabelledWorkspace {
  const toDisplayPath = (path: string): string => (isInside(path, dir) ? path.slice(dir.length + 1) : path);
  const getTaint: LabelledWorkspace["getTaint"] = (path, changedAt, { facts }) => {
    const mark = (source: TaintMark["source"]): TaintMark => ({ source, detail: toDisplayPath(path) });
    if (isInside(fold(path), fold(join(dir, INBOX_FOLDER)))) return mark("file");
    const label = labels.get(path);
    if (label !== undefined && isForeign(label, facts)) return mark(label.source);
    const open = labels.findChanging(dir, facts);
    return open !== undefined && changedAt >= BigInt(open.since) ? mark(open.author.source) : undefined;
  };
  return {
    getTaint,
    recordRead(path, changedAt, run) {
      const mark = getTaint(path, changedAt, run);
      if (mark !== undefined) run.taint(mark);
    },
    recordListing(folder, entries, run) {
      const folderLabel = labels.get(folder);
      const treeLabel = folderLabel?.kind === "tree" ? folderLabel : undefined;
      const label = entries
        .map(({ name }) => labels.getOwn(join(folder, name)) ?? treeLabel)
        .find(isForeignTo(run));
      const author = label ?? labels.findChanging(dir, run.facts)?.author;
      if (author !== undefined)
        run.taint({ source: author.source, detail: `names in ${toDisplayPath(folder) || "."}` });
    },
    async beforeWrite(path, permit) {
      const author = getWriteAuthor(permit);
      if (author !== undefined) await labels.write(path, author);
    },
    async recordReplacement(path, permit) {
      if (getWriteAuthor(permit) === undefined) await labels.remove([join(dir, path)]);
    },
  };
}

function getWriteAuthor({ approved, run }: Permit): Author | undefined {
  return approved ? undefined : getAuthor(run.facts);
}

function isForeignTo(run: Permit["run"]): (label: FileLabel | undefined) => boolean {
  return (label) => label !== undefined && isForeign(label, run.facts);
}
