import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import picomatch from "picomatch";
import { detectEncoding } from "../files/text.ts";
import { isInside } from "../workspace/paths.ts";
import {
  type Candidate,
  getAccessPath,
  MAX_FILE_BYTES,
  type SearchRequest,
  SKIPPED_FOLDERS,
} from "./candidate.ts";

/** Maximum depth of folders. */
const MAX_DEPTH = 64;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** `O_NONBLOCK`: if a named pipe has replaced the file, opening it must not wait for a writer. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A file or folder below the searched folder. */
interface Entry {
  /** Relative to the searched folder. */
  readonly path: string;
  /** Path that this process can use to open the entry. */
  readonly access: string;
}

/**
 * Searches file by file, without ripgrep. Opens each folder relative to its parent if descriptors can be used, and
 * never through a link. Must run in a worker thread, because a regular expression can run indefinitely.
 *
 * @throws SyntaxError for an invalid pattern
 */
export function* searchByWalking(request: SearchRequest): Generator<Candidate> {
  const { file, glob, line } = request;
  const matchesGlob = glob === undefined ? () => true : createMatcher(glob);
  const pattern = line && new RegExp(line.pattern, line.ignoreCase ? "iu" : "u");
  const start = { path: "", access: getAccessPath(request) };
  for (const each of file === undefined ? walkFolder(request, start, 0) : [createEntry(start, file)]) {
    if (!matchesGlob(each.path)) continue;
    if (pattern === undefined) yield { path: each.path };
    else yield* findLines(each, pattern);
  }
}

function createMatcher(glob: string): (path: string) => boolean {
  const matches = picomatch(glob, { dot: true });
  return glob.includes("/") ? matches : (path) => matches(basename(path));
}

function createEntry({ path, access }: Entry, name: string): Entry {
  return { path: path === "" ? name : `${path}/${name}`, access: `${access}/${name}` };
}

function* walkFolder(request: SearchRequest, folder: Entry, depth: number): Generator<Entry> {
  if (depth > MAX_DEPTH) return;
  for (const child of readFolder(folder.access)) {
    const entry = createEntry(folder, child.name);
    if (isClosed(request, entry)) continue;
    if (child.isFile()) yield entry;
    else if (child.isDirectory() && !SKIPPED_FOLDERS.includes(child.name))
      yield* walkSubfolder(request, entry, depth + 1);
  }
}

function* walkSubfolder(request: SearchRequest, folder: Entry, depth: number): Generator<Entry> {
  const descriptor = tryOpen(folder.access, FOLDER);
  if (descriptor === undefined) return;
  try {
    const access =
      request.descriptor === undefined ? folder.access : getAccessPath({ ...request, descriptor });
    yield* walkFolder(request, { path: folder.path, access }, depth);
  } finally {
    closeSync(descriptor);
  }
}

function isClosed({ folder, closed }: SearchRequest, { path }: Entry): boolean {
  const place = join(folder, path);
  return closed.some(({ path: cover, kind, except }) => {
    const isUnder = isInside(place, cover) && (kind === "file" || place !== cover);
    return isUnder && !(except !== undefined && isInside(place, except));
  });
}

function readFolder(access: string) {
  try {
    return readdirSync(access, { withFileTypes: true });
  } catch {
    return [];
  }
}

function* findLines({ path, access }: Entry, pattern: RegExp): Generator<Candidate> {
  const text = readText(access);
  if (text === undefined) return;
  for (const [index, line] of text.split("\n").entries())
    if (pattern.test(line.replace(/\r$/, ""))) yield { path, line: index + 1 };
}

function readText(access: string): string | undefined {
  const descriptor = tryOpen(access, FILE);
  if (descriptor === undefined) return undefined;
  try {
    const info = fstatSync(descriptor);
    if (!info.isFile() || info.size > MAX_FILE_BYTES) return undefined;
    const bytes = readFileSync(descriptor);
    return detectEncoding(bytes, true) === "utf-8" ? bytes.toString("utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function tryOpen(access: string, flags: number): number | undefined {
  try {
    return openSync(access, flags);
  } catch {
    return undefined;
  }
}
