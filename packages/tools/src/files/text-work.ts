import { inThread, threadFile } from "../thread.ts";
import { changedText, type PatchChange, PatchError } from "./patch-format.ts";
import { type Replaced, type Replacement, replaceAll } from "./replacements.ts";

/** What is to be made of a text. */
type TextWork =
  | { readonly kind: "replace"; readonly text: string; readonly edits: readonly Replacement[] }
  | {
      readonly kind: "patch";
      readonly path: string;
      readonly text: string;
      readonly changes: readonly PatchChange[];
    };

type Patched = { readonly text: string } | { readonly problem: string };

/** UTF-16 units times changes: up to that many it takes milliseconds. */
const AT_ONCE = 3_000_000;
/** The same where each line is looked at. */
const AT_ONCE_BY_LINES = 1_000_000;
/** The same where each pair of letters is. */
const AT_ONCE_BY_LETTERS = 100_000;
const LONGEST_MS = 10_000;
const TOO_LONG = "it took too long. Change less at once.";

/** Replaces beside everything else: what may take long does so in a thread. */
export async function replaceBeside(
  text: string,
  edits: readonly Replacement[],
  signal?: AbortSignal,
): Promise<Replaced> {
  // A text that is not there is looked for by likeness.
  const isPlain = edits.every(
    ({ old_string, replace_all }) => replace_all !== true && text.includes(old_string),
  );
  const most = isPlain ? AT_ONCE : AT_ONCE_BY_LETTERS;
  if (text.length * edits.length <= most) return replaceAll(text, edits);
  const made = await workedOut({ kind: "replace", text, edits }, signal);
  return isReplaced(made) ? made : { problem: TOO_LONG };
}

/** The same for the changes of a patch. @throws PatchError where one does not fit */
export async function patchBeside(
  path: string,
  text: string,
  changes: readonly PatchChange[],
  signal?: AbortSignal,
): Promise<string> {
  if (text.length * changes.length <= AT_ONCE_BY_LINES) return changedText(path, text, changes);
  const made = await workedOut({ kind: "patch", path, text, changes }, signal);
  const patched: Patched = isPatched(made) ? made : { problem: `${path}: ${TOO_LONG}` };
  if ("problem" in patched) throw new PatchError(patched.problem);
  return patched.text;
}

/** In the thread. */
export function workOut(work: TextWork): Replaced | Patched {
  if (work.kind === "replace") return replaceAll(work.text, work.edits);
  try {
    return { text: changedText(work.path, work.text, work.changes) };
  } catch (error) {
    if (error instanceof PatchError) return { problem: error.message };
    throw error;
  }
}

function workedOut(work: TextWork, signal: AbortSignal | undefined): Promise<unknown> {
  const limit = AbortSignal.timeout(LONGEST_MS);
  const ends = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  return inThread(threadFile("text-worker", import.meta.url), work, ends);
}

function isPatched(made: unknown): made is Patched {
  return typeof made === "object" && made !== null && ("text" in made || "problem" in made);
}

function isReplaced(made: unknown): made is Replaced {
  return isPatched(made) && ("problem" in made || "lines" in made);
}
