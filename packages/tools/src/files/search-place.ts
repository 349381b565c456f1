import { basename, dirname, join } from "node:path";
import type { ToolResult } from "@signalbox/agent-core";
import { closedPlaces } from "../labels/covers.ts";
import { isForeign } from "../labels/label.ts";
import { labelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure } from "../result.ts";
import type { SearchRequest } from "../search/candidate.ts";
import type { Permit, TaintMark } from "../types.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import type { FolderTree } from "../workspace/folder-tree.ts";
import type { OpenFile } from "../workspace/open-file.ts";
import { fold, inside } from "../workspace/paths.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { assertVisible, INBOX_FOLDER, isVisible } from "./places.ts";
import { count } from "./text.ts";

/** A folder or file to search, limited to what the run may see. */
export interface SearchPlace {
  readonly target: Pick<SearchRequest, "folder" | "descriptor" | "closed" | "file">;
  /**
   * Returns the path of a file as the agent would write it. Returns undefined if the run may not know about the file,
   * or if the name would taint the run.
   */
  nameOf(path: string): Promise<string | undefined>;
  /** Opens the same file without following links out of the workspace. Close it. */
  open(path: string): Promise<OpenFile | undefined>;
  /** Returns the taint of a run that reads the file now. */
  markOf(file: Pick<OpenFile, "path" | "changedAt">): TaintMark | undefined;
  /**
   * Marks a file as shown to the run. `mark` is the taint from when the file was read; its label may have changed
   * since.
   */
  show(file: Pick<OpenFile, "path" | "changedAt"> & { readonly mark: TaintMark | undefined }): void;
  /** Returns notes for the model about results that were omitted. */
  notes(): readonly string[];
}

/**
 * Opens a folder or file, searches it and closes it. An untainted run does not find what others wrote, unless the
 * search starts in such a place; then the search taints the run. Commands follow the same rule.
 *
 * @throws WorkspaceError
 */
export async function searchPlace<Found>(
  workspace: Workspace,
  path: string,
  run: Permit["run"],
  search: (place: SearchPlace) => Promise<Found>,
): Promise<Found> {
  const start = await openStart(workspace, path);
  try {
    return await search(placeOf(workspace, path, run, start));
  } finally {
    await start.tree.close();
  }
}

function placeOf(
  workspace: Workspace,
  path: string,
  run: Permit["run"],
  { tree, file }: SearchStart,
): SearchPlace {
  const words = labelledWorkspace(workspace);
  const start = join(tree.path, file ?? "");
  const isOthers = (place: string): boolean => {
    const label = workspace.labels.of(place);
    const inbox = fold(join(workspace.dir, INBOX_FOLDER));
    return (label !== undefined && isForeign(label, run.facts)) || inside(fold(place), inbox);
  };
  const shown = (place: string): string =>
    inside(place, workspace.dir) ? place.slice(workspace.dir.length + 1) || "." : place;
  assertVisible(path, shown(start), run.facts);
  const changing = workspace.labels.changing(workspace.dir, run.facts);
  if (changing !== undefined)
    run.taint({ source: changing.author.source, detail: "files that change just now" });
  if (isOthers(start))
    run.taint({ source: workspace.labels.of(start)?.source ?? "file", detail: shown(start) });
  const searchesThere = isOthers(start);
  let left = 0;

  const displayed = (candidate: string): string | undefined => {
    const place = join(tree.path, candidate);
    if (!isVisible(shown(place), run.facts)) return undefined;
    if (searchesThere || run.facts.taint.length > 0 || !isOthers(place)) return shown(place);
    left += 1;
    return undefined;
  };
  return {
    target: {
      folder: tree.path,
      ...(tree.descriptor === undefined ? {} : { descriptor: tree.descriptor }),
      closed: closedPlaces(workspace, run.facts),
      ...(file === undefined ? {} : { file }),
    },
    async nameOf(candidate) {
      const name = displayed(candidate);
      // A candidate is checked again, because a link may have replaced a folder since the search.
      if (name === undefined || !(await tree.isFile(candidate))) return undefined;
      if (isOthers(join(tree.path, candidate))) run.taint({ source: "file", detail: `the name ${name}` });
      return name;
    },
    async open(candidate) {
      if (displayed(candidate) === undefined) return undefined;
      return await tree.openFile(candidate).catch(() => undefined);
    },
    markOf: ({ path, changedAt }) => words.markOf(path, changedAt, run),
    show({ path, changedAt, mark }) {
      if (mark !== undefined) run.taint(mark);
      words.read(path, changedAt, run);
    },
    notes: () =>
      left === 0
        ? []
        : [`left out: ${count(left)} in files that others sent or wrote; search there to see them`],
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

/** Creates the result of a failed search: an invalid pattern, or a problem with a path. */
export function searchFailure(error: unknown): ToolResult {
  return error instanceof SyntaxError
    ? failure(`That cannot be searched for: ${error.message.slice(0, 300)}`)
    : fileFailure(error);
}

/** The end of a search: enough results, the time limit, or the end of the run. */
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
export function searchEnd(signal: AbortSignal, searchMs: number = SEARCH_MS): SearchEnd {
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
