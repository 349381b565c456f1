import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "../result.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { describeChange } from "./change.ts";
import { createIdentityGuard } from "./identity-files.ts";
import { getVisibleWorkspace, getWriteClaims } from "./places.ts";
import { formatCount } from "./text.ts";
import { acquireWriteLock } from "./write-lock.ts";

export interface WriteToolOptions {
  readonly workspace: Workspace;
  /** Maximum size of a file, in bytes. Default: 10,000,000. */
  readonly maxBytes?: number;
}

/**
 * Creates the tool `write`, which creates or replaces a file and creates missing folders. It is idempotent: repeating a
 * call results in the same file.
 */
export function createWriteTool(options: WriteToolOptions): ToolDefinition {
  const { workspace } = options;
  const labelled = createLabelledWorkspace(workspace);
  const maxBytes = options.maxBytes ?? 10_000_000;
  return defineTool({
    name: "write",
    description: "Create or replace a file with the given content. Missing folders are created.",
    inputSchema: z.object({
      file_path: z.string().min(1).describe("Relative to the working folder"),
      content: z.string().describe("Complete content of the file"),
    }),
    effects: "idempotent",
    claims: (args, facts) => getWriteClaims(workspace, args.file_path, facts),
    subject: ({ file_path, content }, facts) => describeChange(workspace, file_path, facts, () => content),
    async run({ args }, { signal }, permit) {
      const bytes = Buffer.from(args.content, "utf8");
      if (bytes.length > maxBytes) {
        const text = `The content has ${formatCount(bytes.length)} bytes; a file may have ${formatCount(maxBytes)}. Write it in parts.`;
        return failure(text);
      }
      const release = await acquireWriteLock(workspace, signal, permit.run.facts.role);
      try {
        const visible = getVisibleWorkspace(workspace, permit.run.facts);
        const path = await visible.writeFile(args.file_path, bytes, {
          check: createIdentityGuard(permit),
          before: (place) => labelled.beforeWrite(place, permit),
        });
        await labelled.recordReplacement(path, permit);
        return success(`Wrote ${path} (${bytes.length} bytes)`, { bytesWritten: bytes.length, path });
      } catch (error) {
        return fileFailure(error);
      } finally {
        release();
      }
    },
  });
}
