import { join } from "node:path";
import { INBOX_FOLDER } from "../files/places.ts";
import type { Permit, TaintMark } from "../types.ts";
import { fold, inside } from "../workspace/paths.ts";
import type { FolderEntry, Workspace } from "../workspace/workspace.ts";
import { type Author, authorOf, type FileLabel, isForeign } from "./label.ts";

/** Applies labels to the reads and writes of a tool: reading taints the run, and writing labels the file. */
export interface LabelledWorkspace {
  /** Returns the taint of a run that reads the file now. */
  markOf(path: string, changedAt: bigint, run: Permit["run"]): TaintMark | undefined;
  /** Taints the run after it has read a file. */
  read(path: string, changedAt: bigint, run: Permit["run"]): void;
  /** Taints the run after it has read the names of entries of a folder. */
  listed(folder: string, entries: readonly FolderEntry[], run: Permit["run"]): void;
  /** Labels a file that the run is about to write. A person's approval makes the content trusted. */
  beforeWrite(path: string, permit: Permit): Promise<void>;
  /**
   * Removes the label of a file whose content the run has replaced completely. `path` is as the workspace displays it.
   */
  replaced(path: string, permit: Permit): Promise<void>;
}

export function labelledWorkspace({ dir, labels }: Workspace): LabelledWorkspace {
  const shown = (path: string): string => (inside(path, dir) ? path.slice(dir.length + 1) : path);
  const markOf: LabelledWorkspace["markOf"] = (path, changedAt, { facts }) => {
    const mark = (source: TaintMark["source"]): TaintMark => ({ source, detail: shown(path) });
    if (inside(fold(path), fold(join(dir, INBOX_FOLDER)))) return mark("file");
    const label = labels.of(path);
    if (label !== undefined && isForeign(label, facts)) return mark(label.source);
    const open = labels.changing(dir, facts);
    return open !== undefined && changedAt >= BigInt(open.since) ? mark(open.author.source) : undefined;
  };
  return {
    markOf,
    read(path, changedAt, run) {
      const mark = markOf(path, changedAt, run);
      if (mark !== undefined) run.taint(mark);
    },
    listed(folder, entries, run) {
      const around = labels.of(folder);
      const isAround = around?.kind === "tree" ? around : undefined;
      const label = entries.map(({ name }) => labels.at(join(folder, name)) ?? isAround).find(isOthers(run));
      const author = label ?? labels.changing(dir, run.facts)?.author;
      if (author !== undefined)
        run.taint({ source: author.source, detail: `names in ${shown(folder) || "."}` });
    },
    async beforeWrite(path, permit) {
      const author = authorOfWrite(permit);
      if (author !== undefined) await labels.write(path, author);
    },
    async replaced(path, permit) {
      if (authorOfWrite(permit) === undefined) await labels.remove([join(dir, path)]);
    },
  };
}

function authorOfWrite({ approved, run }: Permit): Author | undefined {
  return approved ? undefined : authorOf(run.facts);
}

function isOthers(run: Permit["run"]): (label: FileLabel | undefined) => boolean {
  return (label) => label !== undefined && isForeign(label, run.facts);
}
