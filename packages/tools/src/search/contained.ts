import { coverArgs, systemFolderArgs } from "../sandbox/mounts.ts";
import type { Cover } from "../sandbox/types.ts";
import { inside } from "../workspace/paths.ts";
import type { SearchRequest } from "./candidate.ts";

/** Inside, whatever it is called outside. */
const PROGRAM = "/signalbox-search";
/** What the launcher gets the folder as. */
const FOLDER = 3;

/**
 * A program as bubblewrap starts it, in the folder that it searches. There is nothing else but the system's libraries,
 * and nothing of what is closed, so a link that takes the place of a folder while it searches leads to neither.
 */
export function contained(
  launcher: string,
  program: { readonly file: string; readonly args: readonly string[] },
  { folder, descriptor, closed }: SearchRequest & { readonly descriptor: number },
): { readonly file: string; readonly args: readonly string[]; readonly descriptors: readonly number[] } {
  const covers = closed.filter(({ path }) => inside(path, folder));
  const isOuter = ({ path }: Cover) =>
    !covers.some((other) => other.path !== path && inside(path, other.path));
  const args = [
    ...["--die-with-parent", "--new-session"],
    ...systemFolderArgs(),
    ...["--ro-bind", program.file, PROGRAM],
    ...["--ro-bind-fd", String(FOLDER), folder],
    ...coverArgs(covers.filter(isOuter)),
    ...["--chdir", folder, "--", PROGRAM, ...program.args],
  ];
  return { file: launcher, args, descriptors: [descriptor] };
}
