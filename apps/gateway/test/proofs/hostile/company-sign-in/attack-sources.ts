import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";

/** The folder of `@signalbox/server`. */
export const PACKAGE: string = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "..",
  "..",
  "..",
  "packages",
  "server",
);
const PROGRAM = join(import.meta.dirname, "try-attacks.ts");
const resultSchema = z.object({ tried: z.number(), through: z.array(z.string()) });

/**
 * Tries the attacks on a server of these sources, in a process of its own.
 *
 * @param only name of the only attack to try. Default: all
 * @returns the number of attacks and the names of those that succeeded
 */
export function attackSources(sources: string, only = ""): z.infer<typeof resultSchema> {
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM, sources, only], { encoding: "utf8" });
  if (!stdout.startsWith("{")) throw new Error(`the attacks were not tried: ${stderr}`);
  return resultSchema.parse(JSON.parse(stdout));
}
