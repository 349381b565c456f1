import type { Cover } from "../sandbox/types.ts";

/** What is looked for below a folder. */
export interface SearchRequest {
  /** The folder, absolute and without links. */
  readonly folder: string;
  /** That folder, open, where that leads to it: its path may lead elsewhere by now. */
  readonly descriptor?: number;
  /** What is not looked into. */
  readonly closed: readonly Cover[];
  /** One file of the folder, in place of all that is below it. */
  readonly file?: string;
  /** Which files, by their path below the folder, `src/*.ts`. Without a slash it is their name. Default: all. */
  readonly glob?: string;
  /** What a line holds. Default: files are looked for, not lines. */
  readonly line?: { readonly pattern: string; readonly ignoreCase: boolean };
}

/**
 * A place that a search has come upon. Only a hint: what a run is shown is read anew through
 * the workspace, which no link leads out of.
 */
export interface Candidate {
  /** Relative to the folder. */
  readonly path: string;
  /** Of the line, from 1; absent where files are looked for. */
  readonly line?: number;
}

/** A way to the folder for this process, and for a program that it starts there. */
export function accessTo({ folder, descriptor }: SearchRequest): string {
  return descriptor === undefined ? folder : `/proc/self/fd/${descriptor}`;
}

/** Folders that nobody means: what they hold was fetched or made by programs. */
export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules"];
/** Larger files are not searched. */
export const MAX_FILE_BYTES = 10_000_000;
