import { createSemaphore } from "../semaphore.ts";
import { inThread, type ThreadOutcome, threadFile } from "../thread.ts";
import { type Comparison, comparedLines, comparedWhole } from "./comparison.ts";
import { changedText, type PatchChange, PatchError } from "./patch-format.ts";
import { type Replaced, type Replacement, replaceAll, replaceIfFound } from "./replacements.ts";

/** What is to be made of a text. */
type TextWork =
  | { readonly kind: "replace"; readonly text: string; readonly edits: readonly Replacement[] }
  | {
      readonly kind: "patch";
      readonly path: string;
      readonly text: string;
      readonly changes: readonly PatchChange[];
    }
  | { readonly kind: "compare"; readonly comparison: Comparison };

type Patched = { readonly text: string } | { readonly problem: string };

/** UTF-16 units times changes: up to that many it takes milliseconds. */
const AT_ONCE = 3_000_000;
/** The same where each line is looked at. */
const AT_ONCE_BY_LINES = 1_000_000;
/** The same where each pair of letters is. */
const AT_ONCE_BY_LETTERS = 100_000;
/** Lines that go or come: to find out what stays between them takes as long as their number squared. */
const CHANGED_AT_ONCE = 300;
const MOST_CHANGED = 3_000;
const LONGEST_MS = 10_000;
/** Of the whole process: apart from pages and PDFs, which others can make slow. */
const places = createSemaphore(2);
/** Why a thread made nothing of it. */
const PROBLEMS: Readonly<Record<Exclude<ThreadOutcome["kind"], "made">, string>> = {
  stopped: "it was stopped before it was worked out.",
  "too-long": "it took too long. Change less at once.",
  failed: "it could not be worked out: its thread did not start or needed too much memory.",
};

/** Replaces beside everything else: what may take long does so in a thread. */
export async function replaceBeside(
  text: string,
  edits: readonly Replacement[],
  signal?: AbortSignal,
): Promise<Replaced> {
  const [only] = edits;
  if (only !== undefined && edits.length === 1 && only.replace_all !== true && text.length <= AT_ONCE) {
    const replaced = replaceIfFound(text, only);
    if (replaced !== undefined) return replaced;
  }
  // A text that is not there is looked for by likeness: of several, one may take away what the next looks for.
  if (text.length * edits.length <= AT_ONCE_BY_LETTERS) return replaceAll(text, edits);
  const outcome = await workedOut({ kind: "replace", text, edits }, signal);
  if (outcome.kind !== "made") return { problem: PROBLEMS[outcome.kind] };
  return isReplaced(outcome.value) ? outcome.value : { problem: PROBLEMS.failed };
}

/** The same for the changes of a patch. @throws PatchError where one does not fit */
export async function patchBeside(
  path: string,
  text: string,
  changes: readonly PatchChange[],
  signal?: AbortSignal,
): Promise<string> {
  if (text.length * changes.length <= AT_ONCE_BY_LINES) return changedText(path, text, changes);
  const outcome = await workedOut({ kind: "patch", path, text, changes }, signal);
  if (outcome.kind !== "made") throw new PatchError(`${path}: ${PROBLEMS[outcome.kind]}`);
  const patched = isPatched(outcome.value) ? outcome.value : { problem: `${path}: ${PROBLEMS.failed}` };
  if ("problem" in patched) throw new PatchError(patched.problem);
  return patched.text;
}

/** What becomes of a text, line by line, as people are shown it. */
export async function comparedBeside(comparison: Comparison): Promise<string> {
  const atOnce = await comparedLines(comparison, CHANGED_AT_ONCE);
  if (atOnce !== undefined) return atOnce;
  const outcome = await workedOut({ kind: "compare", comparison });
  const isCompared = outcome.kind === "made" && typeof outcome.value === "string";
  return isCompared ? outcome.value : comparedWhole(comparison);
}

/** In the thread. */
export async function workOut(work: TextWork): Promise<Replaced | Patched | string | undefined> {
  switch (work.kind) {
    case "replace":
      return replaceAll(work.text, work.edits);
    case "compare":
      return comparedLines(work.comparison, MOST_CHANGED);
    case "patch":
      try {
        return { text: changedText(work.path, work.text, work.changes) };
      } catch (error) {
        if (error instanceof PatchError) return { problem: error.message };
        throw error;
      }
  }
}

function workedOut(work: TextWork, signal = new AbortController().signal): Promise<ThreadOutcome> {
  const file = threadFile("text-worker", import.meta.url);
  return inThread(file, work, { places, signal, timeoutMs: LONGEST_MS });
}

function isPatched(made: unknown): made is Patched {
  return typeof made === "object" && made !== null && ("text" in made || "problem" in made);
}

function isReplaced(made: unknown): made is Replaced {
  return isPatched(made) && ("problem" in made || "lines" in made);
}
