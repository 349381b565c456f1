import { hashOf } from "../hash.ts";
import type { Scope } from "../types.ts";
import { dayFile, LASTING, listNotes, timeOfPath } from "./folder.ts";
import type { Notebook } from "./notebook.ts";
import { encodeProvenance, entryText, type Provenance } from "./provenance.ts";
import { partsOf, type Section, sectionsOf } from "./sections.ts";

/** An entry of a daily note, given to `distil`. */
export interface DailyEntry {
  readonly day: string;
  readonly text: string;
  readonly untrusted?: string;
}

export interface LastingEntry {
  readonly text: string;
  /** Indexes of the entries from which it is derived. It is forgotten together with any of them. */
  readonly from: readonly number[];
}

export interface ConsolidateOptions {
  /**
   * Selects the facts that are worth keeping, usually by asking a model.
   *
   * @param lasting the current text of `MEMORY.md` without untrusted entries
   */
  readonly distil: (daily: readonly DailyEntry[], lasting: string) => Promise<readonly LastingEntry[]>;
  /** Default: the scope of the notes at the top of the folder. */
  readonly scope?: Scope;
  /** Maximum length of `MEMORY.md` in characters. Beyond it, the oldest derived entries are dropped. Default: 8,000. */
  readonly maxChars?: number;
}

export interface Consolidation {
  /** Days whose notes were consolidated. */
  readonly days: readonly string[];
  readonly added: number;
  readonly dropped: number;
}

const DAY_MS = 86_400_000;
const DEFAULT_MAX_CHARS = 8_000;
const NONE: Consolidation = { days: [], added: 0, dropped: 0 };

/** Notes, and a function that runs one change at a time. */
export interface NotesAccess {
  readonly notebook: Notebook;
  readonly folder: string;
  readonly change: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The notes of the days that are not consolidated yet. */
interface PendingNotes {
  readonly sources: readonly { readonly day: string; readonly section: Section }[];
  readonly lasting: string;
  /** The last note that has already been consolidated. */
  readonly previous: string;
  /** The last of these notes. */
  readonly last: string;
}

/**
 * Derives lasting entries from the notes of days before yesterday, each day once. Notes may change while `distil` is
 * running: entries derived from something that was forgotten in the meantime are dropped.
 */
export async function consolidate(
  notes: NotesAccess,
  scope: Scope,
  { distil, maxChars = DEFAULT_MAX_CHARS }: ConsolidateOptions,
  now: number,
): Promise<Consolidation> {
  const { sources, lasting, previous, last } = await pendingNotes(notes, scope, now);
  if (sources.length === 0) return NONE;
  const entries = await distil(
    sources.map(({ day, section: { text, provenance } }) => ({
      day,
      text,
      untrusted: provenance.untrusted,
    })),
    partsOf(lasting).text,
  );
  const derived = entries.map(({ text, from }) => ({
    text,
    from: from.flatMap((place) => sources[place]?.section ?? []),
  }));
  return notes.change(async () => {
    const current = await pendingNotes(notes, scope, now);
    // Another call has consolidated them in the meantime.
    if (current.previous !== previous) return NONE;
    const hashes = new Set(current.sources.map(({ section }) => hashOf(section.text)));
    const kept = derived.filter(({ from }) => from.every((section) => hashes.has(hashOf(section.text))));
    const { text, dropped } = cutTo(withEntries(current.lasting, kept, now), maxChars);
    await notes.notebook.replace(notes.notebook.pathIn(scope, LASTING), text);
    await notes.notebook.replace(markOf(notes, scope), `${last}\n`);
    return { days: [...new Set(sources.map(({ day }) => day))], added: kept.length, dropped };
  });
}

async function pendingNotes(notes: NotesAccess, scope: Scope, now: number): Promise<PendingNotes> {
  const { notebook, folder } = notes;
  const previous = ((await notebook.read(markOf(notes, scope))) ?? "").trim();
  const paths = await daysBetween(folder, notebook.pathIn(scope, ""), previous, dayFile(now - DAY_MS));
  const lasting = (await notebook.read(notebook.pathIn(scope, LASTING))) ?? "";
  return {
    sources: await sectionsOfDays(notebook, paths),
    lasting,
    previous,
    last: paths.at(-1) ?? previous,
  };
}

function markOf({ notebook }: NotesAccess, scope: Scope): string {
  return notebook.pathIn(scope, ".consolidated");
}

interface DerivedEntry {
  readonly text: string;
  readonly from: readonly Section[];
}

function withEntries(lasting: string, entries: readonly DerivedEntry[], at: number): string {
  if (entries.length === 0) return lasting;
  const lines = entries.map(
    ({ text, from }) => `- ${encodeProvenance(entryText(text), provenanceOf(from, at))}`,
  );
  return `${lasting.replace(/\n*$/, lasting === "" ? "" : "\n")}${lines.join("\n")}\n`;
}

/** An entry that is derived from untrusted text is untrusted. */
function provenanceOf(from: readonly Section[], at: number): Provenance {
  const untrusted = from.find(({ provenance }) => provenance.untrusted !== undefined)?.provenance.untrusted;
  return {
    at,
    from: from.map(({ text }) => hashOf(text)),
    untrusted,
  };
}

async function daysBetween(folder: string, inside: string, after: string, before: string): Promise<string[]> {
  const paths = (await listNotes(folder)).map(({ path }) => path);
  return paths
    .filter((path) => path.startsWith(inside) && !path.slice(inside.length).includes("/"))
    .filter((path) => timeOfPath(path) !== undefined)
    .filter((path) => path > after && path < `${inside}${before}`)
    .sort();
}

async function sectionsOfDays(
  notebook: Notebook,
  paths: readonly string[],
): Promise<{ day: string; section: Section }[]> {
  const sections: { day: string; section: Section }[] = [];
  for (const path of paths) {
    const day = path.slice(-"2000-01-01.md".length, -".md".length);
    for (const section of sectionsOf((await notebook.read(path)) ?? "")) sections.push({ day, section });
  }
  return sections;
}

/** Drops the oldest derived entries, which are still in the daily notes. Keeps entries that people wrote. */
function cutTo(markdown: string, maxChars: number): { text: string; dropped: number } {
  let text = markdown;
  let dropped = 0;
  while (text.length > maxChars) {
    const oldest = sectionsOf(text).find(({ provenance }) => provenance.from !== undefined);
    if (oldest === undefined) break;
    const [first, last] = oldest.lines;
    text = text
      .split("\n")
      .filter((_, index) => index + 1 < first || index + 1 > last)
      .join("\n");
    dropped++;
  }
  return { text, dropped };
}
