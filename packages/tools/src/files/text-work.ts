import { createSemaphore } from "../semaphore.ts";
import { getWorkerFile, runInThread, type ThreadOutcome } from "../thread.ts";
import type { Role } from "../types.ts";
import { type Comparison, compareByLine, compareWhole } from "./comparison.ts";
import { applyChanges, type PatchChange, PatchError } from "./patch-format.ts";
import { type Replacement, type ReplacementResult, replaceAll, replaceIfFound } from "./replacements.ts";

/** A text operation that may take a long time. */
type TextWork =
  | { readonly kind: "replace"; readonly text: string; readonly edits: readonly Replacement[] }
  | {
      readonly kind: "patch";
      readonly path: string;
      readonly text: string;
      readonly changes: readonly PatchChange[];
    }
  | { readonly kind: "compare"; readonly comparison: Comparison };

export interface TextWorkOptions {
  /** The role that the work is for. */
  readonly role: Role;
  /** Stops the work, or the wait for a thread. */
  readonly signal?: AbortSignal;
}

type PatchResult = { readonly text: string } | { readonly problem: string };

/**
 * Limits for operations on the main thread. Each takes at most a few milliseconds. Larger operations run in a worker
 * thread.
 */
const MAIN_THREAD = {
  /** Maximum length of a text in which one exact string is replaced, in UTF-16 units. */
  replaceChars: 3_000_000,
  /** Maximum UTF-16 units multiplied by old lines. An old text that does not occur is searched for by similarity. */
  similarityChars: 300_000,
  /** Maximum number of UTF-16 units compared while locating the lines of a patch. See `getPatchCost`. */
  patchChars: 1_000_000,
  /** Maximum number of lines multiplied by the edit distance of a comparison. */
  compareSteps: 1_000_000,
  /** Maximum length of both texts of a comparison together, in UTF-16 units. */
  compareChars: 500_000,
  /** Maximum edit distance of a comparison. */
  compareEdits: 300,
};
/** Maximum edit distance of a comparison in a worker thread. */
const MAX_EDITS = 3_000;
const MAX_THREAD_MS = 10_000;
/**
 * Limits the threads for text operations. They are separate from the threads for pages and PDFs, which other people's
 * content can slow down.
 */
const places = createSemaphore(2);
const PROBLEMS: Readonly<Record<Exclude<ThreadOutcome["kind"], "done">, string>> = {
  stopped: "the call was stopped, or waited too long.",
  timeout: "it took too long. Change less at once.",
  failed: "it failed: the thread could not start or ran out of memory.",
};

/** Applies replacements. Large operations run in a worker thread. */
export async function replaceInText(
  text: string,
  edits: readonly Replacement[],
  options: TextWorkOptions,
): Promise<ReplacementResult> {
  const [only] = edits;
  if (
    only !== undefined &&
    edits.length === 1 &&
    only.replace_all !== true &&
    text.length <= MAIN_THREAD.replaceChars
  ) {
    const replaced = replaceIfFound(text, only);
    if (replaced !== undefined) return replaced;
  }
  const oldLines = edits.reduce((sum, { old_string: old }) => sum + countLines(old), 0);
  if (text.length * oldLines <= MAIN_THREAD.similarityChars) return replaceAll(text, edits);
  const outcome = await runInWorker({ kind: "replace", text, edits }, options);
  if (outcome.kind !== "done") return { problem: PROBLEMS[outcome.kind] };
  return isReplacementResult(outcome.value) ? outcome.value : { problem: PROBLEMS.failed };
}

/**
 * Applies the changes of a patch. Large patches run in a worker thread.
 *
 * @throws PatchError if a change does not match
 */
export async function patchText(
  path: string,
  text: string,
  changes: readonly PatchChange[],
  options: TextWorkOptions,
): Promise<string> {
  if (getPatchCost(text, changes) <= MAIN_THREAD.patchChars) return applyChanges(path, text, changes);
  const outcome = await runInWorker({ kind: "patch", path, text, changes }, options);
  if (outcome.kind !== "done") throw new PatchError(`${path}: ${PROBLEMS[outcome.kind]}`);
  const patched = isPatchResult(outcome.value) ? outcome.value : { problem: `${path}: ${PROBLEMS.failed}` };
  if ("problem" in patched) throw new PatchError(patched.problem);
  return patched.text;
}

/**
 * Estimates the number of compared UTF-16 units. Each context line and each block of old lines is searched for in the
 * whole text.
 */
function getPatchCost(text: string, changes: readonly PatchChange[]): number {
  let searches = 0;
  let chars = 0;
  for (const { after, old } of changes) {
    searches += after.length + 1;
    for (const line of old) chars += line.length + 1;
  }
  return text.length * searches + chars;
}

/** Compares two texts and returns a unified diff for a person to read. Large comparisons run in a worker thread. */
export async function compareTexts(comparison: Comparison, options: TextWorkOptions): Promise<string> {
  const { before, after } = comparison;
  if (before.length + after.length <= MAIN_THREAD.compareChars) {
    const lines = countLines(before) + countLines(after);
    const maxEdits = Math.min(MAIN_THREAD.compareEdits, Math.floor(MAIN_THREAD.compareSteps / lines));
    const diff = await compareByLine(comparison, maxEdits);
    if (diff !== undefined) return diff;
  }
  const outcome = await runInWorker({ kind: "compare", comparison }, options);
  return outcome.kind === "done" && typeof outcome.value === "string"
    ? outcome.value
    : compareWhole(comparison);
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Runs a text operation. Called in a worker thread. */
export async function doTextWork(
  work: TextWork,
): Promise<ReplacementResult | PatchResult | string | undefined> {
  switch (work.kind) {
    case "replace":
      return replaceAll(work.text, work.edits);
    case "compare":
      return (await compareByLine(work.comparison, MAX_EDITS)) ?? compareWhole(work.comparison);
    case "patch":
      try {
        return { text: applyChanges(work.path, work.text, work.changes) };
      } catch (error) {
        if (error instanceof PatchError) return { problem: error.message };
        throw error;
      }
  }
}

function runInWorker(
  textWork: TextWork,
  { role, signal = new AbortController().signal }: TextWorkOptions,
): Promise<ThreadOutcome> {
  const file = getWorkerFile("text-worker", import.meta.url);
  return runInThread(file, textWork, { places, signal, role, timeoutMs: MAX_THREAD_MS });
}

function isPatchResult(value: unknown): value is PatchResult {
  return typeof value === "object" && value !== null && ("text" in value || "problem" in value);
}

function isReplacementResult(value: unknown): value is ReplacementResult {
  return isPatchResult(value) && ("problem" in value || "lines" in value);
}
