import { basename, dirname, join } from "node:path";
import type { ToolResult } from "@signalbox/agent-core";
import { getClosedPlaces } from "../labels/covers.ts";
import { isForeign } from "../labels/label.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure } from "../result.ts";
import type { SearchRequest } from "../search/candidate.ts";
import type { Permit, TaintMark } from "../types.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import type { FolderTree } from "../workspace/folder-tree.ts";
import type { OpenFile } from "../workspace/open-file.ts";
import { fold, isInside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { getVisibleWorkspace, INBOX_FOLDER, isVisible } from "./places.ts";
import { formatCount } from "./text.ts";

/** A folder or file to search, limited to the content that the run may see. */
export interface SearchPlace {
  readonly target: Pick<SearchRequest, "folder" | "descriptor" | "closed" | "file">;
  /**
   * Returns the path of a file as the agent would write it. Returns undefined if the run may not know about the file,
   * or if the name would taint the run.
   */
  getName(path: string): Promise<string | undefined>;
  /** Opens the same file without following links that lead out of the workspace. The caller must close it. */
  open(path: string): Promise<OpenFile | undefined>;
  /** Returns the taint for a run that reads the file now. */
  getTaint(file: Pick<OpenFile, "path" | "changedAt">): TaintMark | undefined;
  /**
   * Marks a file as shown to the run. `mark` is the taint at the time when the file was read, because its label may
   * have changed since.
   */
  show(file: Pick<OpenFile, "path" | "changedAt"> & { readonly mark: TaintMark | undefined }): void;
  /** Returns notes for the model about results that were omitted. */
  notes(): readonly string[];
}

/**
 * Opens a folder or file, searches it and closes it. An untainted run does not find content that others wrote, unless
 * the search starts in such a folder or file. In that case, the search taints the run. Commands follow the same rule.
 *
 * @throws WorkspaceError
 */
export async function withSearchPlace<Found>(
  workspace: Workspace,
  path: string,
  run: Permit["run"],
  search: (place: SearchPlace) => Promise<Found>,
): Promise<Found> {
  const start = await openStart(getVisibleWorkspace(workspace, run.facts), path);
  try {
    return await search(createPlace(workspace, run, start));
  } finally {
    await start.tree.close();
  }
}

function createPlace(workspace: Workspace, run: Permit["run"], { tree, file }: SearchStart): SearchPlace {
  const labelled = createLabelledWorkspace(workspace);
  const start = join(tree.path, file ?? "");
  const isForeignPlace = (place: string): boolean => {
    const label = workspace.labels.get(place);
    const inbox = fold(join(workspace.dir, INBOX_FOLDER));
    return (label !== undefined && isForeign(label, run.facts)) || isInside(fold(place), inbox);
  };
  const toDisplayPath = (place: string): string =>
    isInside(place, workspace.dir) ? place.slice(workspace.dir.length + 1) || "." : place;
  const changing = workspace.labels.findChanging(workspace.dir, run.facts);
  if (changing !== undefined)
    run.taint({ source: changing.author.source, detail: "files that change just now" });
  if (isForeignPlace(start))
    run.taint({ source: workspace.labels.get(start)?.source ?? "file", detail: toDisplayPath(start) });
  const startsInForeignPlace = isForeignPlace(start);
  let omitted = 0;

  const getVisibleName = (candidate: string): string | undefined => {
    const place = join(tree.path, candidate);
    if (!isVisible(toDisplayPath(place), run.facts)) return undefined;
    if (startsInForeignPlace || run.facts.taint.length > 0 || !isForeignPlace(place))
      return toDisplayPath(place);
    omitted += 1;
    return undefined;
  };
  return {
    target: {
      folder: tree.path,
      ...(tree.descriptor === undefined ? {} : { descriptor: tree.descriptor }),
      closed: getClosedPlaces(workspace, run.facts),
      ...(file === undefined ? {} : { file }),
    },
    async getName(candidate) {
      const name = getVisibleName(candidate);
      // A candidate is checked again, because a link may have replaced a folder since the search.
      if (name === undefined || !(await tree.isFile(candidate))) return undefined;
      if (isForeignPlace(join(tree.path, candidate)))
        run.taint({ source: "file", detail: `the name ${name}` });
      return name;
    },
    async open(candidate) {
      if (getVisibleName(candidate) === undefined) return undefined;
      return await tree.openFile(candidate).catch(() => undefined);
    },
    getTaint: ({ path, changedAt }) => labelled.getTaint(path, changedAt, run),
    show({ path, changedAt, mark }) {
      if (mark !== undefined) run.taint(mark);
      labelled.recordRead(path, changedAt, run);
    },
    notes: () =>
      omitted === 0
        ? []
        : [
            `omitted: ${formatCount(omitted)} in files that others sent or wrote; search these files to see them`,
          ],
  };
}

interface SearchStart {
  readonly tree: FolderTree;
  /** The only file that is searched. */
  readonly file?: string;
}

async function openStart(workspace: Workspace, path: string): Promise<SearchStart> {
  try {
    return { tree: await workspace.openTree(path) };
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== "not_a_folder") throw error;
    const file = await workspace.openFile(path);
    await file.close();
    return { tree: await workspace.openTree(dirname(file.path)), file: basename(file.path) };
  }
}

/** Creates the result of a search that failed because of an invalid pattern or path. */
export function toSearchFailure(error: unknown): ToolResult {
  return error instanceof SyntaxError
    ? failure(`Invalid search: ${error.message.slice(0, 300)}`)
    : fileFailure(error);
}

/** Ends a search when there are enough results, the time limit is exceeded, or the run ends. */
export interface SearchEnd {
  readonly signal: AbortSignal;
  /** Ends the search and adds a note for the model. */
  stop(note: string): void;
  /** Runs the search. Resolves when it is complete or its time limit is exceeded. */
  until(work: () => Promise<void>): Promise<void>;
  notes(): readonly string[];
}

const SEARCH_MS = 10_000;

/** @param searchMs time limit in milliseconds. Default: 10,000 */
export function createSearchEnd(signal: AbortSignal, searchMs: number = SEARCH_MS): SearchEnd {
  const limit = AbortSignal.timeout(searchMs);
  const notes: string[] = [];
  return {
    signal: AbortSignal.any([signal, limit]),
    stop: (note) => void notes.push(note),
    async until(work) {
      try {
        await work();
      } catch (error) {
        signal.throwIfAborted();
        if (!limit.aborted) throw error;
        notes.push(`stopped after ${searchMs / 1_000} s; search a smaller place`);
      }
    },
    notes: () => notes,
  };
}
