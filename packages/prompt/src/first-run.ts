import { lstat, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ExtraSection } from "./types.ts";
import { loadWorkspaceFiles, type WorkspaceFileProblem } from "./workspace-files.ts";
import { hasContent } from "./workspace-text.ts";

const NAME = "BOOTSTRAP.md";
/** Files in which an agent notes what it learns in its first conversation. */
const NOTE_FILES = ["IDENTITY.md", "USER.md"];
/**
 * Maximum number of answers in the first conversation. After this many answers without a note, the conversation is
 * about something else.
 */
const MAX_ANSWERS = 3;
const MAX_BYTES = 16_000;

/** State of an agent's first conversation. */
export interface FirstRun {
  /** Volatile, because only some requests contain it. */
  readonly section: ExtraSection | undefined;
  /** True if the first conversation is over and the file can be removed. */
  readonly isOver: boolean;
  readonly problem?: WorkspaceFileProblem | undefined;
}

/**
 * Reads `BOOTSTRAP.md` in a workspace for a conversation with its owner. The first conversation is over once the agent
 * has written a note about itself or the owner, or after three answers.
 *
 * @param answers number of answers in the conversation so far
 */
export async function readFirstRun(dir: string, answers: number): Promise<FirstRun> {
  const loaded = await loadWorkspaceFiles(dir, { names: [NAME], maxBytes: MAX_BYTES });
  const [file] = loaded.files;
  if (file === undefined) return { section: undefined, isOver: false, problem: loaded.problems[0] };
  if (answers >= MAX_ANSWERS || (await hasNotes(dir))) return { section: undefined, isOver: true };
  const section = {
    name: "first-run",
    title: "First conversation",
    text: file.text,
    part: "volatile",
  } as const;
  return { section, isOver: false };
}

/** Removes `BOOTSTRAP.md`, even if it is a link. */
export async function endFirstRun(dir: string): Promise<void> {
  await rm(join(await realpath(dir), NAME), { force: true });
}

async function hasNotes(dir: string): Promise<boolean> {
  const created = await getModifiedTime(dir, NAME);
  const { files } = await loadWorkspaceFiles(dir, { names: NOTE_FILES });
  for (const { name, text } of files)
    if (hasContent(text) && (await getModifiedTime(dir, name)) > created) return true;
  return false;
}

async function getModifiedTime(dir: string, name: string): Promise<number> {
  return lstat(join(dir, name)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
