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

/** Where a run searches, and what of it the run is shown. */
export interface SearchPlace {
  readonly target: Pick<SearchRequest, "folder" | "descriptor" | "closed" | "file">;
  /** A file as the agent would write it; nothing where the run may not know of it, or not without taint. */
  nameOf(path: string): Promise<string | undefined>;
  /** The same file, opened without following links out of the workspace. Close it. */
  open(path: string): Promise<OpenFile | undefined>;
  /** Whose words a file holds that has just been read, where they are not the run's own. */
  markOf(file: Pick<OpenFile, "path" | "changedAt">): TaintMark | undefined;
  /** The run is shown what a file held, whose words it may be labelled as no more. */
  show(file: Pick<OpenFile, "path" | "changedAt"> & { readonly mark: TaintMark | undefined }): void;
  /** What the model should know of what it was not shown. */
  notes(): readonly string[];
}

/**
 * Opens a folder or file, searches there and closes it. As with commands, a run that has seen nothing of others does
 * not come upon what others wrote, unless it searches there: then it has read their words.
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
      // Not by a link, and nowhere that is closed: what a search comes upon is looked at again.
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
  /** The only one of it that is searched. */
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

/** What went wrong as a result: a pattern that cannot be searched for, or a problem with a path. */
export function searchFailure(error: unknown): ToolResult {
  return error instanceof SyntaxError
    ? failure(`That cannot be searched for: ${error.message.slice(0, 300)}`)
    : fileFailure(error);
}

/** Where a search ends: when there is enough, when its time is over, or with the run. */
export interface SearchEnd {
  readonly signal: AbortSignal;
  /** Ends it, with what the model should know. */
  stop(note: string): void;
  /** Works until the end. */
  until(work: () => Promise<void>): Promise<void>;
  notes(): readonly string[];
}

const SEARCH_MS = 10_000;

/** @param searchMs milliseconds that the search may take; default 10,000 */
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
