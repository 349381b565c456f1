import type { Cover } from "../sandbox/types.ts";

/** A search below a folder. */
export interface SearchRequest {
  /** Absolute path of the folder, with links resolved. */
  readonly folder: string;
  /**
   * Descriptor of the open folder, if the folder can be reached through it. The path may lead elsewhere in the
   * meantime.
   */
  readonly descriptor?: number;
  /** Places that are not searched. */
  readonly closed: readonly Cover[];
  /** Searches only this file of the folder. */
  readonly file?: string;
  /**
   * Glob for paths below the folder, for example `src/*.ts`. Without a slash it matches file names. Default: all files.
   */
  readonly glob?: string;
  /** Searches lines with a regular expression. Default: searches for files. */
  readonly line?: { readonly pattern: string; readonly ignoreCase: boolean };
}

/**
 * A possible match. Results that are shown to a run are read again through the workspace, which does not follow links
 * out of it.
 */
export interface Candidate {
  /** Relative to the folder. */
  readonly path: string;
  /** Line number, from 1. Absent in a search for files. */
  readonly line?: number;
}

/** Returns a path to the folder for this process and for programs that it starts there. */
export function getAccessPath({ folder, descriptor }: SearchRequest): string {
  return descriptor === undefined ? folder : `/proc/self/fd/${descriptor}`;
}

/** Folders that are not searched, because programs fetched or created their content. */
export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules"];
/** Larger files are not searched. */
export const MAX_FILE_BYTES = 10_000_000;
