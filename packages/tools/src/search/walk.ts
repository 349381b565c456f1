import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import picomatch from "picomatch";
import { detectEncoding } from "../files/text.ts";
import { type Candidate, MAX_FILE_BYTES, type SearchRequest, SKIPPED_FOLDERS } from "./candidate.ts";

/** Levels of folders. */
const MAX_DEPTH = 64;

/**
 * Looks without ripgrep, file by file, links not followed. Meant for a thread of its own: a pattern can keep the engine
 * busy for ever.
 *
 * @throws SyntaxError for a pattern that is none
 */
export function* searchByWalking(request: SearchRequest): Generator<Candidate> {
  const { folder, file, glob, line } = request;
  const isMeant = glob === undefined ? () => true : matcherOf(glob);
  const pattern = line && new RegExp(line.pattern, line.ignoreCase ? "iu" : "u");
  for (const path of file === undefined ? filesBelow(folder, "", 0) : [file]) {
    if (!isMeant(path)) continue;
    if (pattern === undefined) yield { path };
    else yield* linesOf(join(folder, path), path, pattern);
  }
}

function matcherOf(glob: string): (path: string) => boolean {
  const matches = picomatch(glob, { dot: true });
  return glob.includes("/") ? matches : (path) => matches(basename(path));
}

function* filesBelow(folder: string, path: string, depth: number): Generator<string> {
  if (depth > MAX_DEPTH) return;
  const entries = readFolder(join(folder, path));
  for (const entry of entries) {
    const place = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isFile()) yield place;
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.includes(entry.name))
      yield* filesBelow(folder, place, depth + 1);
  }
}

function readFolder(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function* linesOf(file: string, path: string, pattern: RegExp): Generator<Candidate> {
  const text = readText(file);
  if (text === undefined) return;
  for (const [index, line] of text.split("\n").entries())
    if (pattern.test(line.replace(/\r$/, ""))) yield { path, line: index + 1 };
}

function readText(file: string): string | undefined {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) return undefined;
    const bytes = readFileSync(file);
    return detectEncoding(bytes, true) === "utf-8" ? bytes.toString("utf8") : undefined;
  } catch {
    return undefined;
  }
}
