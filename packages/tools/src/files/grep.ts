import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { getContentRoom, success } from "../result.ts";
import { type Candidate, MAX_FILE_BYTES } from "../search/candidate.ts";
import type { Search } from "../search/search.ts";
import type { TaintMark } from "../types.ts";
import { type OpenFile, readWhole } from "../workspace/open-file.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { getReadClaims } from "./places.ts";
import { createSearchEnd, type SearchPlace, toSearchFailure, withSearchPlace } from "./search-place.ts";
import { detectEncoding, escapeName, truncateText } from "./text.ts";

export interface GrepToolOptions {
  readonly workspace: Workspace;
  readonly search: Search;
  /** Time limit for a search, in milliseconds. Default: 10,000. */
  readonly searchMs?: number;
}

const MAX_LINES = 200;
/** Maximum length of a line in the result, in characters. Lines of minified files can have megabytes. */
const MAX_LINE_CHARS = 400;
/**
 * Maximum number of files to read ahead, and the maximum size of each in bytes. Larger files are read when they are
 * shown.
 */
const MAX_READ_AHEAD = 32;
const MAX_BYTES_AHEAD = 1_000_000;
const MORE = "there is more; narrow the search";

/** Creates the tool `grep`, which searches the content of files. It has no effects. */
export function createGrepTool({ workspace, search, searchMs }: GrepToolOptions): ToolDefinition {
  return defineTool({
    name: "grep",
    description:
      "Search the text of files with a regular expression; special characters are escaped: `foo\\(`. Shows `file:line: text`.",
    inputSchema: z.object({
      pattern: z.string().min(1).max(1_000),
      path: z.string().min(1).optional().describe("Folder or file to search. Default: the working folder"),
      glob: z.string().min(1).max(1_000).optional().describe("Only files that match, such as `*.ts`"),
      ignore_case: z.boolean().optional(),
      context: z.int().min(0).max(10).optional().describe("Number of lines before and after each match"),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args, facts) => getReadClaims(workspace, args.path ?? ".", facts),
    async run({ args }, context, { run }) {
      const { pattern, path = ".", glob, ignore_case: ignoreCase = false } = args;
      const end = createSearchEnd(context.signal, searchMs);
      try {
        return await withSearchPlace(workspace, path, run, async (place) => {
          const request = {
            ...place.target,
            ...(glob === undefined ? {} : { glob }),
            line: { pattern, ignoreCase },
          };
          const result = new ResultLines(args.context ?? 0, getContentRoom(context));
          await end.until(async () => {
            const candidates = groupByFile(search(request, end.signal));
            for await (const ahead of mapAhead(candidates, (each) => readAhead(place, each))) {
              const file = typeof ahead === "function" ? await ahead() : ahead;
              if (file === undefined) continue;
              if (result.isFull) return end.stop(MORE);
              place.show(file);
              if (!result.add(file)) return end.stop(MORE);
            }
          });
          const notes = [...end.notes(), ...place.notes()].map((note) => `\n[${note}]`);
          const text = result.lines === 0 ? "(nothing found)" : result.text;
          return success(`${text}${notes.join("")}`, { lines: result.lines });
        });
      } catch (error) {
        return toSearchFailure(error);
      }
    },
  });
}

/** A file with candidates and their line numbers. */
interface FileCandidates {
  readonly path: string;
  readonly at: readonly number[];
}

/** The content of such a file, with the taint for a run that reads it. */
interface FileMatches extends Pick<OpenFile, "path" | "displayPath" | "changedAt"> {
  readonly lines: readonly string[];
  readonly at: readonly number[];
  readonly mark: TaintMark | undefined;
}

/**
 * Groups candidates by file. Searches return the lines of a file consecutively. If a search fails, the candidates found
 * so far are still returned.
 */
async function* groupByFile(candidates: AsyncIterable<Candidate>): AsyncGenerator<FileCandidates> {
  let file: { readonly path: string; readonly at: number[] } | undefined;
  try {
    for await (const { path, line = 1 } of candidates) {
      if (file !== undefined && file.path !== path) yield file;
      if (file?.path !== path) file = { path, at: [] };
      // ripgrep returns a line once per match. One line above the limit shows that there are more.
      if (file.at.at(-1) !== line && file.at.length <= MAX_LINES) file.at.push(line);
    }
  } catch (error) {
    if (file !== undefined) yield file;
    throw error;
  }
  if (file !== undefined) yield file;
}

/** Processes the next few items while the search continues, and yields the results in order. */
async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) {
      const result = work(item);
      // The caller may stop before it has awaited all results.
      result.catch(() => {});
      pending.push(result);
      if (pending.length < MAX_READ_AHEAD) continue;
      const [next] = pending.splice(0, 1);
      if (next !== undefined) yield await next;
    }
  } catch (error) {
    failure = { error };
  }
  for (const result of pending) yield await result;
  if (failure !== undefined) throw failure.error;
}

/**
 * Reads a file through the workspace, which does not follow links that lead out of it. For a large file, returns a
 * function that reads the file when it is shown.
 */
async function readAhead(place: SearchPlace, { path, at }: FileCandidates) {
  const file = await place.open(path);
  if (file === undefined || file.size <= MAX_BYTES_AHEAD) return readMatches(place, file, at);
  await file.close();
  return async () => readMatches(place, await place.open(path), at);
}

/** Reads and closes a file. Returns undefined if the file is too large or is not UTF-8. */
async function readMatches(
  place: SearchPlace,
  file: OpenFile | undefined,
  at: readonly number[],
): Promise<FileMatches | undefined> {
  if (file === undefined) return undefined;
  try {
    if (file.size > MAX_FILE_BYTES) return undefined;
    const bytes = await readWhole(file);
    const mark = place.getTaint(file);
    if (detectEncoding(bytes, true) !== "utf-8") return undefined;
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      .toString("utf8")
      .replace(/\n$/, "")
      .split("\n");
    return { path: file.path, displayPath: file.displayPath, changedAt: file.changedAt, lines, at, mark };
  } finally {
    await file.close();
  }
}

/** The result lines, limited in the total number of characters. */
class ResultLines {
  readonly #around: number;
  readonly #room: number;
  readonly #parts: string[] = [];
  #chars = 0;
  #lines = 0;

  constructor(around: number, room: number) {
    this.#around = around;
    this.#room = room;
  }

  get lines(): number {
    return this.#lines;
  }

  get text(): string {
    return this.#parts.join("\n");
  }

  get isFull(): boolean {
    return this.#lines >= MAX_LINES || this.#chars >= this.#room;
  }

  /** Adds the matches of a file. Returns false if not all of them fit. */
  add({ displayPath, lines, at }: FileMatches): boolean {
    const matched = new Set(at);
    let last = 0;
    for (const number of matched) {
      const from = Math.max(number - this.#around, last + 1);
      for (let each = from; each <= number + this.#around; each++) {
        const line = lines[each - 1];
        // A later match is added with its own context.
        if (line === undefined || (each > number && matched.has(each))) break;
        if (this.isFull) return false;
        if (this.#around > 0 && each === from && last > 0 && each > last + 1) this.#add("--");
        this.#add(`${escapeName(displayPath)}:${each}${matched.has(each) ? ":" : "-"} ${shortenLine(line)}`);
        this.#lines += matched.has(each) ? 1 : 0;
        last = each;
      }
    }
    return true;
  }

  #add(text: string): void {
    const room = truncateText(text, Math.max(0, this.#room - this.#chars));
    this.#parts.push(room);
    this.#chars += room.length + 1;
  }
}

function shortenLine(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > MAX_LINE_CHARS ? `${truncateText(text, MAX_LINE_CHARS)} […]` : text;
}
