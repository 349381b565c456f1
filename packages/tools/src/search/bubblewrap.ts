import { getCoverArgs, getSystemFolderArgs } from "../sandbox/mounts.ts";
import type { Cover } from "../sandbox/types.ts";
import { isInside } from "../workspace/paths.ts";
import type { SearchRequest } from "./candidate.ts";

/** Path of the program inside the sandbox. */
const PROGRAM = "/signalbox-search";
/** Descriptor of the folder in the launcher. */
const FOLDER = 3;

/**
 * Wraps a search program with bubblewrap. The program sees only the folder, without closed paths, and the system's
 * libraries. If a link replaces a folder during the search, the link cannot lead to closed files or files outside.
 */
export function wrapWithBubblewrap(
  launcher: string,
  program: { readonly file: string; readonly args: readonly string[] },
  { folder, descriptor, closed }: SearchRequest & { readonly descriptor: number },
): { readonly file: string; readonly args: readonly string[]; readonly descriptors: readonly number[] } {
  const covers = closed.filter(({ path }) => isInside(path, folder));
  const isOuter = ({ path }: Cover) =>
    !covers.some((other) => other.path !== path && isInside(path, other.path));
  const args = [
    ...["--die-with-parent", "--new-session"],
    ...getSystemFolderArgs(),
    ...["--ro-bind", program.file, PROGRAM],
    ...["--ro-bind-fd", String(FOLDER), folder],
    ...getCoverArgs(covers.filter(isOuter)),
    ...["--chdir", folder, "--", PROGRAM, ...program.args],
  ];
  return { file: launcher, args, descriptors: [descriptor] };
}
