import type { createProcesses } from "../../src/background/processes.ts";
import type { createProcessTool } from "../../src/background/tool.ts";
import type { createCronTool } from "../../src/cron.ts";
import type * as Index from "../../src/index.ts";

/** The package under test, with the internal functions that attempts need. */
export type Subject = typeof Index & {
  readonly createProcesses: typeof createProcesses;
  readonly createProcessTool: typeof createProcessTool;
  readonly createCronTool: typeof createCronTool;
};

/** Loads the package from a folder of sources: the real ones, or a copy without a defence. */
export async function loadSubject(sources: URL): Promise<Subject> {
  const load = (file: string) => import(new URL(file, sources).href);
  const files = ["index.ts", "background/processes.ts", "background/tool.ts", "cron.ts"];
  const [index, processes, processTool, cron] = await Promise.all(files.map(load));
  return { ...index, ...processes, ...processTool, ...cron };
}

/** The sources of this package. */
export const SOURCES = new URL("../../src/", import.meta.url);
