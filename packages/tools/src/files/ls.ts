import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { fileFailure, success } from "../result.ts";
import type { FolderEntry, Workspace } from "../workspace/workspace.ts";
import { getReadClaims, getVisibleWorkspace, isVisible } from "./places.ts";
import { escapeName, formatCount } from "./text.ts";

/** Number of entries to examine before yielding to the event loop. This takes a few milliseconds. */
const SLICE_ENTRIES = 500;

export interface LsToolOptions {
  readonly workspace: Workspace;
  /** Maximum number of entries. Default: 1,000. */
  readonly maxEntries?: number;
}

/** Creates the tool `ls`, which lists a folder, one entry per line. It has no effects. */
export function createLsTool(options: LsToolOptions): ToolDefinition {
  const { workspace } = options;
  const labelled = createLabelledWorkspace(workspace);
  const maxEntries = options.maxEntries ?? 1_000;
  return defineTool({
    name: "ls",
    description: "List a folder, one entry per line; folders end in `/`, links in `@`.",
    inputSchema: z.object({
      path: z.string().min(1).describe("Relative to the working folder; `.` is the folder itself"),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args, facts) => getReadClaims(workspace, args.path, facts),
    async run({ args }, _context, { run }) {
      try {
        const folder = await getVisibleWorkspace(workspace, run.facts).list(args.path);
        const entries: FolderEntry[] = [];
        for (const [index, entry] of folder.entries.entries()) {
          if (index % SLICE_ENTRIES === SLICE_ENTRIES - 1) await setImmediate();
          const place = folder.displayPath === "." ? entry.name : `${folder.displayPath}/${entry.name}`;
          if (isVisible(place, run.facts)) entries.push(entry);
        }
        const listed = entries.slice(0, maxEntries);
        labelled.recordListing(folder.path, listed, run);
        const lines = listed.map((entry) => `${escapeName(entry.name)}${SUFFIX[entry.type]}\n`);
        const omitted = entries.length - listed.length;
        if (omitted > 0) lines.push(`[${formatCount(omitted)} more entries not shown]\n`);
        const text = lines.length === 0 ? `(${args.path} is empty)\n` : lines.join("");
        return success(text, { entries: listed.map(({ name, type }) => ({ name, type })) });
      } catch (error) {
        return fileFailure(error);
      }
    },
  });
}

const SUFFIX = { file: "", folder: "/", link: "@", other: "" } as const;
