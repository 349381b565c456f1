import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { labelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "../result.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { changeOf } from "./change.ts";
import { writeClaims, writeGuard } from "./places.ts";
import { count } from "./text.ts";
import { acquireWriteLock } from "./write-lock.ts";

export interface WriteToolOptions {
  readonly workspace: Workspace;
  /** Maximum size of a file in bytes. Default: 10,000,000. */
  readonly maxBytes?: number;
}

/**
 * Creates `write`, which creates or replaces a file and its missing folders. Idempotent: the same call leads to the
 * same file.
 */
export function createWriteTool(options: WriteToolOptions): ToolDefinition {
  const { workspace } = options;
  const words = labelledWorkspace(workspace);
  const maxBytes = options.maxBytes ?? 10_000_000;
  return defineTool({
    name: "write",
    description: "Create or replace a file with the given content. Missing folders are created.",
    inputSchema: z.object({
      file_path: z.string().min(1).describe("Relative to the working folder"),
      content: z.string().describe("The whole content"),
    }),
    effects: "idempotent",
    claims: (args, facts) => writeClaims(workspace, args.file_path, facts),
    subject: ({ file_path, content }, facts) => changeOf(workspace, file_path, facts, () => content),
    async run({ args }, { signal }, permit) {
      const bytes = Buffer.from(args.content, "utf8");
      if (bytes.length > maxBytes) {
        const text = `The content has ${count(bytes.length)} bytes; a file may have ${count(maxBytes)}. Write it in parts.`;
        return failure(text);
      }
      const release = await acquireWriteLock(workspace, signal);
      try {
        const path = await workspace.writeFile(args.file_path, bytes, {
          check: writeGuard(args.file_path, permit),
          before: (place) => words.beforeWrite(place, permit),
        });
        await words.replaced(path, permit);
        return success(`Wrote ${path} (${bytes.length} bytes)`, { bytesWritten: bytes.length, path });
      } catch (error) {
        return fileFailure(error);
      } finally {
        release();
      }
    },
  });
}
