import { spawn } from "node:child_process";
import {
  accessTo,
  type Candidate,
  MAX_FILE_BYTES,
  type SearchRequest,
  SKIPPED_FOLDERS,
} from "./candidate.ts";
import { contained } from "./contained.ts";

/** What there is to search with, by absolute paths. */
export interface Programs {
  readonly ripgrep: string;
  /** bubblewrap; where there is none, no command that could replace folders runs in one either. */
  readonly launcher: string | undefined;
}

/**
 * Looks with ripgrep, which opens what it searches by paths: so it is given nothing else where that can be. Says
 * whether it ran at all.
 *
 * @throws SyntaxError what ripgrep says of a pattern that it cannot search for
 */
export async function* searchWithRipgrep(
  { ripgrep, launcher }: Programs,
  request: SearchRequest,
  signal: AbortSignal,
): AsyncGenerator<Candidate, boolean> {
  const { descriptor } = request;
  const plain = { file: ripgrep, args: argumentsFor(request), descriptors: [] };
  const isContained = launcher !== undefined && descriptor !== undefined;
  const program = isContained ? contained(launcher, plain, { ...request, descriptor }) : plain;
  const child = spawn(program.file, program.args, {
    cwd: accessTo(request),
    env: {},
    stdio: ["ignore", "pipe", "pipe", ...program.descriptors],
    signal,
    killSignal: "SIGKILL",
  });
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, 1_000);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // Nobody waits for it where the search is broken off.
  ended.catch(() => {});
  try {
    let rest = "";
    for await (const text of child.stdout?.setEncoding("utf8") ?? []) {
      const read = readRecords(rest + String(text), request.line === undefined);
      rest = read.rest;
      yield* read.candidates;
    }
    const code = await ended;
    if (isContained && (complaint.startsWith("bwrap: ") || code === NO_LIBRARIES)) return false;
    // 1: nothing was found. 2: something went wrong; what does with single files is not told of (`--no-messages`).
    if (code === 2 && complaint !== "") throw new SyntaxError(complaint.trim());
    return true;
  } finally {
    child.kill("SIGKILL");
  }
}

/** The exit code of a program whose libraries are not there. */
const NO_LIBRARIES = 127;

/**
 * No settings of anybody's, no links followed, hidden files too. Of a line only its number is asked
 * for: its text is read through the workspace.
 */
function argumentsFor({ file, glob, line }: SearchRequest): string[] {
  return [
    ...["--no-config", "--no-ignore", "--hidden", "--no-messages", "--color", "never", "--null"],
    ...["--max-filesize", String(MAX_FILE_BYTES)],
    ...(glob === undefined ? [] : ["--glob", glob]),
    // Of several that bear on a file the last one counts.
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

/** What ripgrep says, among the lines that it has found, of a file that turned out not to be text. */
const NOTES =
  /(?:\.\/[^\0]*?: (?:WARNING: stopped searching binary file after match|binary file matches) \(.*\)\n)*/;
const FILE = /\.\/([^\0]+)\0/gy;
const LINE = new RegExp(`${NOTES.source}\\./([^\\0]+)\\0(\\d+):\\n`, "gy");

/** Files come as `path\0`, lines as `path\0number:\n`: a path may hold anything but a NUL. */
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
