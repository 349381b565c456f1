import { spawn } from "node:child_process";
import { wrapWithBubblewrap } from "./bubblewrap.ts";
import {
  type Candidate,
  getAccessPath,
  MAX_FILE_BYTES,
  type SearchRequest,
  SKIPPED_FOLDERS,
} from "./candidate.ts";

/** Absolute paths of the search programs. */
export interface SearchPrograms {
  readonly ripgrep: string;
  /**
   * Path of bubblewrap. Undefined if it is not installed, in which case no command that could replace folders runs
   * either.
   */
  readonly launcher: string | undefined;
}

/**
 * Searches with ripgrep, which opens files by path and therefore runs in a sandbox if possible. Returns false if
 * ripgrep could not run.
 *
 * @throws SyntaxError with ripgrep's message for an invalid pattern
 */
export async function* searchWithRipgrep(
  { ripgrep, launcher }: SearchPrograms,
  request: SearchRequest,
  signal: AbortSignal,
): AsyncGenerator<Candidate, boolean> {
  const { descriptor } = request;
  const plain = { file: ripgrep, args: getArguments(request), descriptors: [] };
  const isSandboxed = launcher !== undefined && descriptor !== undefined;
  const program = isSandboxed ? wrapWithBubblewrap(launcher, plain, { ...request, descriptor }) : plain;
  const child = spawn(program.file, program.args, {
    cwd: getAccessPath(request),
    env: {},
    stdio: ["ignore", "pipe", "pipe", ...program.descriptors],
    signal,
    killSignal: "SIGKILL",
  });
  let errorOutput = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errorOutput = (errorOutput + text).slice(0, 1_000);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // Not awaited if the search ends early.
  ended.catch(() => {});
  try {
    let rest = "";
    for await (const text of child.stdout?.setEncoding("utf8") ?? []) {
      const read = readRecords(rest + String(text), request.line === undefined);
      rest = read.rest;
      yield* read.candidates;
    }
    const code = await ended;
    if (isSandboxed && (errorOutput.startsWith("bwrap: ") || code === NO_LIBRARIES)) return false;
    // Exit code 1: no match. Exit code 2: an error. Errors for single files are not reported (`--no-messages`).
    if (code === 2 && errorOutput !== "") throw new SyntaxError(errorOutput.trim());
    return true;
  } finally {
    child.kill("SIGKILL");
  }
}

/** Exit code of a program whose libraries are missing. */
const NO_LIBRARIES = 127;

/**
 * Returns the arguments for ripgrep. It ignores configuration files, does not follow links, and includes hidden files.
 * It outputs only line numbers, because the content is read through the workspace.
 */
function getArguments({ file, glob, line }: SearchRequest): string[] {
  return [
    ...["--no-config", "--no-ignore", "--hidden", "--no-messages", "--color", "never", "--null"],
    ...["--max-filesize", String(MAX_FILE_BYTES)],
    ...(glob === undefined ? [] : ["--glob", glob]),
    // The last matching glob takes precedence.
    ...SKIPPED_FOLDERS.flatMap((folder) => ["--glob", `!**/${folder}/**`]),
    ...(line === undefined
      ? ["--files"]
      : [
          ...["--line-number", "--no-heading", "--with-filename", "--only-matching", "--replace", ""],
          ...(line.ignoreCase ? ["--ignore-case"] : []),
          ...["--regexp", line.pattern],
        ]),
    ...["--", `./${file ?? ""}`],
  ];
}

/** Matches the messages that ripgrep mixes with the results if a file turns out to be binary. */
const NOTES =
  /(?:\.\/[^\0]*?: (?:WARNING: stopped searching binary file after match|binary file matches) \(.*\)\n)*/;
const FILE = /\.\/([^\0]+)\0/gy;
const LINE = new RegExp(`${NOTES.source}\\./([^\\0]+)\\0(\\d+):\\n`, "gy");

/**
 * Parses ripgrep's output. Files have the form `path\0` and lines the form `path\0number:
 * `, because a path may contain any character except NUL.
 */
function readRecords(
  text: string,
  areFiles: boolean,
): { readonly candidates: readonly Candidate[]; readonly rest: string } {
  const candidates: Candidate[] = [];
  let end = 0;
  for (const [whole, path = "", line] of text.matchAll(areFiles ? FILE : LINE)) {
    candidates.push(line === undefined ? { path } : { path, line: Number(line) });
    end += whole.length;
  }
  return { candidates, rest: text.slice(end) };
}
