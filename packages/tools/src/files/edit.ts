import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "../result.ts";
import type { OpenFile } from "../workspace/open-file.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { CANNOT_BE_MADE, describeChange } from "./change.ts";
import { createIdentityGuard } from "./identity-files.ts";
import { getVisibleWorkspace, getWriteClaims } from "./places.ts";
import type { Replacement } from "./replacements.ts";
import { detectEncoding, formatCount } from "./text.ts";
import { replaceInText } from "./text-work.ts";
import { acquireWriteLock, MAX_LOCKED_MS } from "./write-lock.ts";

export interface EditToolOptions {
  readonly workspace: Workspace;
  /** Maximum size of the file, in bytes. Default: 2,000,000. */
  readonly maxBytes?: number;
}

const replacement = z.object({
  old_string: z.string().min(1),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

/**
 * Creates the tool `edit`, which replaces exact text. Its effects are external: a second call may change the file
 * again, so after a crash the model checks the file instead of repeating the call.
 */
export function createEditTool(options: EditToolOptions): ToolDefinition {
  const { workspace } = options;
  const labelled = createLabelledWorkspace(workspace);
  const maxBytes = options.maxBytes ?? 2_000_000;
  return defineTool({
    name: "edit",
    description:
      "Replace exact text in a file: `old_string` with `new_string`, or several texts in order with `edits`. Each old text must occur exactly once, unless `replace_all` is set. If one replacement fails, nothing is changed.",
    inputSchema: z.object({
      file_path: z.string().min(1).describe("Relative to the working folder"),
      old_string: replacement.shape.old_string.optional(),
      new_string: replacement.shape.new_string.optional(),
      replace_all: replacement.shape.replace_all,
      edits: z
        .array(replacement)
        .min(1)
        .max(100)
        .optional()
        .describe("Replacements, instead of the three fields above"),
    }),
    effects: "external",
    claims: (args, facts) => getWriteClaims(workspace, args.file_path, facts),
    subject: (args, facts) =>
      describeChange(workspace, args.file_path, facts, async (before) => {
        const edits = toReplacements(args);
        const edited =
          typeof edits === "string" ? { problem: edits } : await replaceInText(before, edits, facts);
        return "problem" in edited ? `${before}${CANNOT_BE_MADE}` : edited.text;
      }),
    async run({ args }, { signal }, permit) {
      const edits = toReplacements(args);
      if (typeof edits === "string") return failure(edits);
      const visible = getVisibleWorkspace(workspace, permit.run.facts);
      const { role } = permit.run.facts;
      const release = await acquireWriteLock(workspace, signal, role);
      let file: OpenFile | undefined;
      try {
        file = await visible.openFile(args.file_path);
        // If the old text is not found, the error message quotes similar text from the file.
        labelled.recordRead(file.path, file.changedAt, permit.run);
        if (file.size > maxBytes) {
          return failure(`${file.displayPath} has ${formatCount(file.size)} bytes, more than can be edited.`);
        }
        const bytes = await file.handle.readFile();
        if (detectEncoding(bytes, true) !== "utf-8") {
          return failure(`${file.displayPath} is not UTF-8 text; it cannot be edited without damage.`);
        }
        const edited = await replaceInText(bytes.toString("utf8"), edits, {
          role,
          signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_LOCKED_MS)]),
        });
        if ("problem" in edited) return failure(`${file.displayPath}: ${edited.problem}`);
        const path = await visible.writeFile(args.file_path, Buffer.from(edited.text, "utf8"), {
          check: createIdentityGuard(permit),
          before: (path) => labelled.beforeWrite(path, permit),
        });
        const { lines, replaced, firstLine } = edited;
        const times = replaced === 1 ? "" : `, ${formatCount(replaced)} replacements`;
        const text = `Edited ${formatCount(lines)} ${lines === 1 ? "line" : "lines"} in ${path} (from line ${formatCount(firstLine)}${times})`;
        return success(text, { path, linesChanged: lines, replacements: replaced, firstLine });
      } catch (error) {
        return fileFailure(error);
      } finally {
        await file?.close();
        release();
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

function toReplacements(args: EditArgs): readonly Replacement[] | string {
  const { old_string, new_string, replace_all, edits } = args;
  if (edits !== undefined) {
    return old_string === undefined && new_string === undefined
      ? edits
      : "Give either `edits` or `old_string` and `new_string`, not both.";
  }
  if (old_string === undefined || new_string === undefined) {
    return "Give both `old_string` and `new_string` (or `edits`).";
  }
  return [{ old_string, new_string, replace_all }];
}
