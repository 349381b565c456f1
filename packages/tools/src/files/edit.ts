import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { labelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, success } from "../result.ts";
import type { OpenFile, Workspace } from "../workspace/workspace.ts";
import { changeOf } from "./change.ts";
import { fileFailure } from "./failure.ts";
import { identityClaims, identityGuard } from "./identity-files.ts";
import { nearMatch } from "./near-match.ts";
import { assertVisible } from "./places.ts";
import { count, detectEncoding } from "./text.ts";

export interface EditToolOptions {
  readonly workspace: Workspace;
  /** Bytes of the file; default 10,000,000. */
  readonly maxBytes?: number;
}

interface Replacement {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

const replacement = z.object({
  old_string: z.string().min(1).describe("Exact text, found once in the file"),
  new_string: z.string().describe("What takes its place"),
  replace_all: z.boolean().optional().describe("Replace every occurrence"),
});

/**
 * `edit`: replaces exact text. Its effects count as external: done twice, it may change the file twice, so after a
 * crash the model is told to look rather than the call repeated.
 */
export function createEditTool(options: EditToolOptions): ToolDefinition {
  const { workspace } = options;
  const words = labelledWorkspace(workspace);
  const maxBytes = options.maxBytes ?? 10_000_000;
  return defineTool({
    name: "edit",
    description:
      "Replace exact text in a file: `old_string` with `new_string`, or several at once in `edits`, in order. Each old text must occur exactly once, unless `replace_all` is set. All or nothing.",
    inputSchema: z.object({
      file_path: z.string().min(1).describe("Relative to the working folder"),
      old_string: replacement.shape.old_string.optional(),
      new_string: replacement.shape.new_string.optional(),
      replace_all: replacement.shape.replace_all,
      edits: z.array(replacement).min(1).max(100).optional().describe("Instead of the three above"),
    }),
    effects: "external",
    claims: (args) => identityClaims(workspace, "write-identity", args.file_path),
    subject: (args) =>
      changeOf(workspace, args.file_path, (before) => {
        const edits = replacements(args);
        const edited = typeof edits === "string" ? { problem: edits } : applyEdits(before, edits);
        return "problem" in edited ? `${before}[this change cannot be made]` : edited.text;
      }),
    async run({ args }, _context, permit) {
      const edits = replacements(args);
      if (typeof edits === "string") return failure(edits);
      let file: OpenFile | undefined;
      try {
        file = await workspace.openFile(args.file_path);
        assertVisible(args.file_path, file.displayPath, permit.run.facts);
        // What is said of a text that is not there tells of what is.
        words.read(file.path, file.changedAt, permit.run);
        if (file.size > maxBytes) {
          return failure(`${file.displayPath} has ${count(file.size)} bytes, more than can be edited.`);
        }
        const bytes = await file.handle.readFile();
        if (detectEncoding(bytes, true) !== "utf-8") {
          return failure(`${file.displayPath} is not UTF-8 text; it cannot be edited without damage.`);
        }
        const edited = applyEdits(bytes.toString("utf8"), edits);
        if ("problem" in edited) return failure(`${file.displayPath}: ${edited.problem}`);
        const guard = identityGuard(permit);
        const path = await workspace.writeFile(args.file_path, Buffer.from(edited.text, "utf8"), {
          check: guard,
          before: (path) => words.beforeWrite(path, permit),
        });
        const { lines, replaced, firstLine } = edited;
        const times = replaced === 1 ? "" : `, ${count(replaced)} replacements`;
        const text = `Edited ${count(lines)} ${lines === 1 ? "line" : "lines"} in ${path} (from line ${count(firstLine)}${times})`;
        return success(text, { path, linesChanged: lines, replacements: replaced, firstLine });
      } catch (error) {
        return fileFailure(error);
      } finally {
        await file?.close();
      }
    },
  });
}

interface EditArgs {
  readonly old_string?: string | undefined;
  readonly new_string?: string | undefined;
  readonly replace_all?: boolean | undefined;
  readonly edits?: readonly Replacement[] | undefined;
}

function replacements(args: EditArgs): readonly Replacement[] | string {
  const { old_string, new_string, replace_all, edits } = args;
  if (edits !== undefined) {
    return old_string === undefined && new_string === undefined
      ? edits
      : "Give either `edits` or `old_string` and `new_string`, not both.";
  }
  if (old_string === undefined || new_string === undefined) {
    return "Both `old_string` and `new_string` are needed (or `edits`).";
  }
  return [{ old_string, new_string, replace_all }];
}

type Edited =
  | { readonly text: string; readonly lines: number; readonly replaced: number; readonly firstLine: number }
  | { readonly problem: string };

/** Applies replacements one after the other to the whole text, or none. */
function applyEdits(original: string, edits: readonly Replacement[]): Edited {
  const crlf = original.includes("\r\n") && !/(^|[^\r])\n/.test(original);
  const withLineEndings = (text: string): string => (crlf ? text.replace(/\r?\n/g, "\r\n") : text);
  let text = original;
  let lines = 0;
  let replaced = 0;
  let firstLine = Number.POSITIVE_INFINITY;
  for (const [i, edit] of edits.entries()) {
    const which = edits.length === 1 ? "" : `edit ${i + 1}: `;
    const from = withLineEndings(edit.old_string);
    const to = withLineEndings(edit.new_string);
    if (from === to) return { problem: `${which}old and new text are the same.` };
    const places = occurrences(text, from);
    if (places.length === 0) return { problem: `${which}${notFound(text, from)}` };
    if (places.length > 1 && edit.replace_all !== true) {
      const where = places.slice(0, 10).map((at) => count(lineAt(text, at)));
      return {
        problem: `${which}the old text occurs ${count(places.length)} times (lines ${where.join(", ")}${places.length > 10 ? ", …" : ""}). Include more of what surrounds it, or set replace_all.`,
      };
    }
    firstLine = Math.min(firstLine, lineAt(text, places[0] ?? 0));
    lines += places.length * Math.max(lineCount(from), lineCount(to));
    replaced += places.length;
    text = text.split(from).join(to);
  }
  return { text, lines, replaced, firstLine };
}

function notFound(text: string, wanted: string): string {
  const near = nearMatch(text, wanted);
  if (near === undefined) return "the old text does not occur. Read the file and copy the text exactly.";
  const where =
    near.from === near.to
      ? `line ${count(near.from)}`
      : `the block of lines ${count(near.from)} to ${count(near.to)}`;
  const how = near.kind === "white-space" ? "matches but for white space" : "comes nearest";
  return `the old text does not occur exactly. In the file, ${where} ${how}:\n${near.text}`;
}

function occurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}

/** Lines a text touches; a final line end opens no further line. */
function lineCount(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
