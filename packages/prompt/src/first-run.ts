import { existsSync } from "node:fs";
import { lstat, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ExtraSection } from "./types.ts";
import { loadWorkspaceFiles, type WorkspaceFileProblem } from "./workspace-files.ts";
import { saysSomething } from "./workspace-text.ts";

const NAME = "BOOTSTRAP.md";
/** Where an agent notes what it learns in its first conversation. */
const NOTED_IN = ["IDENTITY.md", "USER.md"];
/** A conversation in which nothing has been noted by then will not be about it. */
const MOST_ANSWERS = 3;
const MAX_BYTES = 16_000;

/** What a workspace has for the agent's first conversation. */
export interface FirstRun {
  /** Behind the cache boundary: it is there for some requests and then gone. */
  readonly section: ExtraSection | undefined;
  /** The conversation has done what it is for: the file can go. */
  readonly isOver: boolean;
  readonly problem?: WorkspaceFileProblem | undefined;
}

/**
 * Reads `BOOTSTRAP.md` of a workspace for its owner's conversation in which there were so many answers before. It is
 * over once the agent has noted something of itself or of the person since the file came, or after three answers.
 */
export async function readFirstRun(dir: string, answers: number): Promise<FirstRun> {
  // Asked for with each message, for ever after: a look takes microseconds, a trip to another thread many more.
  if (!existsSync(join(dir, NAME))) return { section: undefined, isOver: false };
  const loaded = await loadWorkspaceFiles(dir, { names: [NAME], maxBytes: MAX_BYTES });
  const [file] = loaded.files;
  if (file === undefined) return { section: undefined, isOver: false, problem: loaded.problems[0] };
  if (answers >= MOST_ANSWERS || (await isNoted(dir))) return { section: undefined, isOver: true };
  const section = {
    name: "first-run",
    title: "First conversation",
    text: file.text,
    part: "volatile",
  } as const;
  return { section, isOver: false };
}

/** Removes `BOOTSTRAP.md`, or a link of that name. */
export async function endFirstRun(dir: string): Promise<void> {
  await rm(join(await realpath(dir), NAME), { force: true });
}

async function isNoted(dir: string): Promise<boolean> {
  const came = await timeOf(dir, NAME);
  const { files } = await loadWorkspaceFiles(dir, { names: NOTED_IN });
  for (const { name, text } of files)
    if (saysSomething(text) && (await timeOf(dir, name)) > came) return true;
  return false;
}

async function timeOf(dir: string, name: string): Promise<number> {
  return lstat(join(dir, name)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
