import type { Cover } from "../sandbox/types.ts";

/** A search below a folder. */
export interface SearchRequest {
  /** Absolute path of the folder, with links resolved. */
  readonly folder: string;
  /**
   * Descriptor of the open folder, if the folder can be reached through it. The path may lead elsewhere by the time it
   * is used.
   */
  readonly descriptor?: number;
  /** Paths that are not searched. */
  readonly closed: readonly Cover[];
  /** Searches only this file in the folder. */
  readonly file?: string;
  /**
   * Glob for paths below the folder, for example `src/*.ts`. A glob without a slash matches file names. Default: all
   * files.
   */
  readonly glob?: string;
  /** Searches lines with a regular expression. Default: searches for files. */
  readonly line?: { readonly pattern: string; readonly ignoreCase: boolean };
}

/**
 * A possible match. Results shown to a run are read again through the workspace, which does not follow links that lead
 * out of it.
 */
export interface Candidate {
  /** Relative to the folder. */
  readonly path: string;
  /** Line number, from 1. Absent in a search for files. */
  readonly line?: number;
}

/** Returns a path to the folder for this process and for programs that this process starts there. */
export function getAccessPath({ folder, descriptor }: SearchRequest): string {
  return descriptor === undefined ? folder : `/proc/self/fd/${descriptor}`;
}

/** Folders that are not searched, because programs downloaded or generated their content. */
export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules"];
/** Maximum size of a searched file, in bytes. Larger files are skipped. */
export const MAX_FILE_BYTES = 10_000_000;
