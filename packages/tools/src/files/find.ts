import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { success } from "../result.ts";
import type { Search } from "../search/search.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { getReadClaims } from "./places.ts";
import { createSearchEnd, toSearchFailure, withSearchPlace } from "./search-place.ts";
import { escapeName } from "./text.ts";

export interface FindToolOptions {
  readonly workspace: Workspace;
  readonly search: Search;
  /** Time limit for a search, in milliseconds. Default: 10,000. */
  readonly searchMs?: number;
}

const MAX_FILES = 500;

/** Creates the tool `find`, which finds files by name. It has no effects. */
export function createFindTool({ workspace, search, searchMs }: FindToolOptions): ToolDefinition {
  return defineTool({
    name: "find",
    description: "Find files by a glob: `*.ts` by name anywhere, `src/**/*.ts` by path.",
    inputSchema: z.object({
      glob: z.string().min(1).max(1_000),
      path: z.string().min(1).optional().describe("Folder to search. Default: the working folder"),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args, facts) => getReadClaims(workspace, args.path ?? ".", facts),
    async run({ args }, { signal }, { run }) {
      try {
        return await withSearchPlace(workspace, args.path ?? ".", run, async (place) => {
          const end = createSearchEnd(signal, searchMs);
          const files: string[] = [];
          await end.until(async () => {
            for await (const { path } of search({ ...place.target, glob: args.glob }, end.signal)) {
              const name = await place.getName(path);
              if (name === undefined) continue;
              if (files.length === MAX_FILES) return end.stop("there are more; narrow the search");
              files.push(escapeName(name));
            }
          });
          const text = files.length === 0 ? "(no file matches)" : files.toSorted().join("\n");
          const notes = [...end.notes(), ...place.notes()].map((note) => `\n[${note}]`);
          return success(`${text}${notes.join("")}`, { files: files.length });
        });
      } catch (error) {
        return toSearchFailure(error);
      }
    },
  });
}
