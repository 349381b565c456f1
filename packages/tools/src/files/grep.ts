import { reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { contentRoom, failure, success } from "../result.ts";
import type { Search } from "../search/search.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { fileFailure } from "./failure.ts";
import { identityClaims } from "./identity-files.ts";
import { openPlace, type SearchPlace, searchEnd } from "./search-place.ts";
import { cutWell, detectEncoding, visibleName } from "./text.ts";

export interface GrepToolOptions {
  readonly workspace: Workspace;
  readonly search: Search;
  /** Milliseconds that a search may take; default 10,000. */
  readonly searchMs?: number;
}

const MAX_LINES = 200;
/** Of one line: minified files have lines of megabytes. */
const MAX_LINE_CHARS = 400;

/** `grep`: lines of files by what they hold. No effects. */
export function createGrepTool({ workspace, search, searchMs }: GrepToolOptions): ToolDefinition {
  return defineTool({
    name: "grep",
    description:
      "Search the text of files with a regular expression; special characters are escaped: `foo\\(`. Shows `file:line: text`.",
    inputSchema: z.object({
      pattern: z.string().min(1).max(1_000),
      path: z.string().min(1).optional().describe("Folder or file; default the working folder"),
      glob: z.string().min(1).max(1_000).optional().describe("Which files, such as `*.ts`"),
      ignore_case: z.boolean().optional(),
      context: z.int().min(0).max(10).optional().describe("Lines before and after each"),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args) => identityClaims(workspace, "read-identity", args.path ?? "."),
    async run({ args }, context, { run }) {
      const { pattern, path = ".", glob, ignore_case: ignoreCase = false } = args;
      const end = searchEnd(context.signal, searchMs);
      try {
        const place = await openPlace(workspace, path, run);
        const shown = new ShownLines(place, args.context ?? 0, contentRoom(context));
        const request = {
          ...place.target,
          ...(glob === undefined ? {} : { glob }),
          line: { pattern, ignoreCase },
        };
        await end.until(async () => {
          for await (const { path: file, line = 1 } of search(request, end.signal)) {
            if (await shown.isFull(file, line)) return end.stop("there is more; ask for less");
          }
        });
        await shown.finish();
        const notes = [...end.notes(), ...place.notes()].map((note) => `\n[${note}]`);
        const text = shown.lines === 0 ? "(nothing was found)" : shown.text;
        return success(`${text}${notes.join("")}`, { lines: shown.lines });
      } catch (error) {
        if (isPatternError(error))
          return failure(`That cannot be searched for: ${reasonOf(error).slice(0, 300)}`);
        return fileFailure(error);
      }
    },
  });
}

/** The lines that were found, file by file: each file is read anew when a candidate of the next one comes. */
class ShownLines {
  readonly #place: SearchPlace;
  readonly #around: number;
  readonly #room: number;
  readonly #parts: string[] = [];
  #chars = 0;
  #lines = 0;
  #file: { readonly path: string; readonly at: number[] } | undefined;

  constructor(place: SearchPlace, around: number, room: number) {
    this.#place = place;
    this.#around = around;
    this.#room = room;
  }

  get lines(): number {
    return this.#lines;
  }

  get text(): string {
    return this.#parts.join("\n");
  }

  /** Takes a candidate; says whether there is room for no more. */
  async isFull(path: string, line: number): Promise<boolean> {
    if (this.#file?.path !== path) {
      await this.finish();
      this.#file = { path, at: [] };
    }
    if (this.#file.at.length <= MAX_LINES) this.#file.at.push(line);
    return this.#lines >= MAX_LINES || this.#chars >= this.#room;
  }

  /** Shows what was found in the file that came last. */
  async finish(): Promise<void> {
    const { path, at } = this.#file ?? { path: "", at: [] };
    this.#file = undefined;
    const file = at.length === 0 ? undefined : await this.#place.open(path);
    if (file === undefined) return;
    try {
      const bytes = await file.handle.readFile();
      if (detectEncoding(bytes, true) !== "utf-8") return;
      this.#show(file.displayPath, bytes.toString("utf8").replace(/\n$/, "").split("\n"), at);
    } finally {
      await file.close();
    }
  }

  #show(name: string, lines: readonly string[], at: readonly number[]): void {
    const matched = new Set(at);
    let last = 0;
    for (const number of matched) {
      const from = Math.max(number - this.#around, last + 1);
      for (let each = from; each <= number + this.#around; each++) {
        const line = lines[each - 1];
        // A match further on shows itself, and what is around it.
        if (line === undefined || (each > number && matched.has(each))) break;
        if (this.#lines >= MAX_LINES || this.#chars >= this.#room) return;
        if (this.#around > 0 && each === from && last > 0 && each > last + 1) this.#add("--");
        this.#add(`${visibleName(name)}:${each}${matched.has(each) ? ":" : "-"} ${shortened(line)}`);
        this.#lines += matched.has(each) ? 1 : 0;
        last = each;
      }
    }
  }

  #add(text: string): void {
    const room = cutWell(text, Math.max(0, this.#room - this.#chars));
    this.#parts.push(room);
    this.#chars += room.length + 1;
  }
}

function shortened(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > MAX_LINE_CHARS ? `${cutWell(text, MAX_LINE_CHARS)} […]` : text;
}

function isPatternError(error: unknown): boolean {
  return error instanceof SyntaxError || /regex parse error|error parsing glob/.test(reasonOf(error));
}
