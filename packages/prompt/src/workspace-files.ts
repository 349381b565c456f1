import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import type { WorkspaceFile } from "./types.ts";

/**
 * The files that are part of every prompt, in this order. Files that change often come last. `BOOTSTRAP.md` is only
 * used in the first conversation: see `readFirstRun`.
 */
const WORKSPACE_FILES: readonly string[] = [
  "AGENTS.md",
  "SOUL.md",
  "IDENTITY.md",
  "USER.md",
  "TOOLS.md",
  "MEMORY.md",
];

/** Files in which owners keep notes about themselves. */
const PRIVATE: ReadonlySet<string> = new Set(["MEMORY.md", "USER.md"]);

/** Returns the files that may be disclosed to everyone who talks to the agent. */
export function getSharedFiles(files: readonly WorkspaceFile[]): readonly WorkspaceFile[] {
  return files.filter(({ name }) => !PRIVATE.has(name));
}

export interface LoadWorkspaceFilesOptions {
  /** Names, not paths. Default: `WORKSPACE_FILES`. The order is kept. */
  readonly names?: readonly string[];
  /**
   * Maximum number of bytes to read from one file. Default: 120,000, which is enough for 20,000 characters of any
   * script.
   */
  readonly maxBytes?: number;
}

/** A file that exists but was not read. */
export interface WorkspaceFileProblem {
  readonly name: string;
  /** `link`: a symbolic link, which could point anywhere. */
  readonly code: "link" | "not_a_file" | "unreadable" | "bad_name";
  readonly message: string;
}

export interface LoadedWorkspaceFiles {
  readonly files: readonly WorkspaceFile[];
  readonly problems: readonly WorkspaceFileProblem[];
}

const DEFAULT_MAX_BYTES = 120_000;
const NAME = /^[\p{L}\p{N}_-][\p{L}\p{N}._ -]{0,119}$/u;

/**
 * Reads the workspace files in a folder. Skips missing files. Does not follow links, because an agent can create links
 * and the host can read more than the agent may. Does not throw if a file cannot be read.
 */
export async function loadWorkspaceFiles(
  dir: string,
  options: LoadWorkspaceFilesOptions = {},
): Promise<LoadedWorkspaceFiles> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const files: WorkspaceFile[] = [];
  const problems: WorkspaceFileProblem[] = [];
  const root = await realpath(dir).catch(() => undefined);
  if (root === undefined) return { files, problems };
  for (const name of options.names ?? WORKSPACE_FILES) {
    if (!NAME.test(name)) {
      problems.push({
        name,
        code: "bad_name",
        message: `${name} is not the name of a file in the workspace`,
      });
      continue;
    }
    const read = await readStart(join(root, name), name, maxBytes);
    if (read === undefined) continue;
    if ("code" in read) problems.push(read);
    else files.push(read);
  }
  return { files, problems };
}

export interface WorkspaceFileReaderOptions {
  /** Called each time a file could not be read. */
  readonly onProblem: (dir: string, problem: WorkspaceFileProblem) => void;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Cache lifetime of files, in milliseconds. */
const MAX_AGE_MS = 1_000;

/** Creates a reader for workspace files that reads each folder at most once a second. */
export function createWorkspaceFileReader({
  onProblem,
  now,
}: WorkspaceFileReaderOptions): (dir: string) => Promise<readonly WorkspaceFile[]> {
  const read = new Map<string, { readonly at: number; readonly files: Promise<readonly WorkspaceFile[]> }>();
  return (dir) => {
    const last = read.get(dir);
    // The clock may have been set back.
    if (last && Math.abs(now() - last.at) < MAX_AGE_MS) return last.files;
    const files = loadWorkspaceFiles(dir).then((loaded) => {
      for (const problem of loaded.problems) onProblem(dir, problem);
      return loaded.files;
    });
    read.set(dir, { at: now(), files });
    return files;
  };
}

async function readStart(
  path: string,
  name: string,
  maxBytes: number,
): Promise<WorkspaceFile | WorkspaceFileProblem | undefined> {
  try {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(path, flags);
    const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: -1 }));
    if (size < 0) return { name, code: "not_a_file", message: `${name} is not a regular file` };
    const buffer = Buffer.alloc(Math.min(size, maxBytes));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const partial = size > length;
    // `stream` prevents a replacement character if the last character was cut.
    const text = new TextDecoder().decode(buffer.subarray(0, length), { stream: partial });
    return partial ? { name, text, totalBytes: size } : { name, text };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP")
      return { name, code: "link", message: `${name} is a symbolic link; links are not followed` };
    const reason = reasonOf(error);
    return { name, code: "unreadable", message: `${name} cannot be read: ${reason}` };
  }
}
