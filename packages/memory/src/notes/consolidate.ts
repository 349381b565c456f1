import { hashOf } from "../hash.ts";
import type { Scope } from "../types.ts";
import { dayFile, LASTING, listNotes, timeOfPath } from "./folder.ts";
import type { Notebook } from "./notebook.ts";
import { encodeProvenance, entryText, type Provenance } from "./provenance.ts";
import { type Section, sectionsOf } from "./sections.ts";

/** A part of a daily note that may hold something lasting. */
export interface DailyEntry {
  readonly day: string;
  readonly text: string;
  readonly untrusted?: string;
}

export interface LastingEntry {
  readonly text: string;
  /** Which of the entries it was drawn from, counted from 0: it is forgotten with any of them. */
  readonly from: readonly number[];
}

export interface ConsolidateOptions {
  /** Says what is worth keeping; `lasting` is what is kept already. A model's work, which belongs to the host. */
  readonly distil: (daily: readonly DailyEntry[], lasting: string) => Promise<readonly LastingEntry[]>;
  /** Default: that of the notes at the top of the folder. */
  readonly scope?: Scope;
  /**
   * `MEMORY.md` grows to so many characters; then the oldest entries that were
   * drawn from notes leave it. Default 8,000.
   */
  readonly maxChars?: number;
}

export interface Consolidation {
  /** Days whose notes were read. */
  readonly days: readonly string[];
  readonly added: number;
  readonly dropped: number;
}

const DAY_MS = 86_400_000;
const DEFAULT_MAX_CHARS = 8_000;
const NONE: Consolidation = { days: [], added: 0, dropped: 0 };

/** Notes, and how they are changed: one change at a time. */
export interface ChangingNotes {
  readonly notebook: Notebook;
  readonly folder: string;
  readonly change: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The notes of the days that were not read yet, beside what lasts. */
interface Unread {
  readonly sources: readonly { readonly day: string; readonly section: Section }[];
  readonly lasting: string;
  /** The last note that was read before, and the last of these. */
  readonly readTo: string;
  readonly last: string;
}

/**
 * Draws lasting entries from the notes of days before yesterday, each day once. The notes may change while they are
 * distilled: nothing is kept of what was forgotten meanwhile.
 */
export async function consolidate(
  notes: ChangingNotes,
  scope: Scope,
  { distil, maxChars = DEFAULT_MAX_CHARS }: ConsolidateOptions,
  now: number,
): Promise<Consolidation> {
  const { sources, lasting, readTo, last } = await unread(notes, scope, now);
  if (sources.length === 0) return NONE;
  const entries = await distil(
    sources.map(({ day, section: { text, provenance } }) => ({
      day,
      text,
      ...(provenance.untrusted === undefined ? {} : { untrusted: provenance.untrusted }),
    })),
    lasting,
  );
  const drawn = entries.map(({ text, from }) => ({
    text,
    from: from.flatMap((place) => sources[place]?.section ?? []),
  }));
  return notes.change(async () => {
    const present = await unread(notes, scope, now);
    // Somebody else has read them meanwhile.
    if (present.readTo !== readTo) return NONE;
    const hashes = new Set(present.sources.map(({ section }) => hashOf(section.text)));
    const kept = drawn.filter(({ from }) => from.every((section) => hashes.has(hashOf(section.text))));
    const { text, dropped } = cutTo(withEntries(present.lasting, kept, now), maxChars);
    await notes.notebook.replace(notes.notebook.pathIn(scope, LASTING), text);
    await notes.notebook.replace(markOf(notes, scope), `${last}\n`);
    return { days: [...new Set(sources.map(({ day }) => day))], added: kept.length, dropped };
  });
}

async function unread(notes: ChangingNotes, scope: Scope, now: number): Promise<Unread> {
  const { notebook, folder } = notes;
  const readTo = ((await notebook.read(markOf(notes, scope))) ?? "").trim();
  const paths = await daysBetween(folder, notebook.pathIn(scope, ""), readTo, dayFile(now - DAY_MS));
  const lasting = (await notebook.read(notebook.pathIn(scope, LASTING))) ?? "";
  return { sources: await sectionsOfDays(notebook, paths), lasting, readTo, last: paths.at(-1) ?? readTo };
}

function markOf({ notebook }: ChangingNotes, scope: Scope): string {
  return notebook.pathIn(scope, ".consolidated");
}

interface Drawn {
  readonly text: string;
  readonly from: readonly Section[];
}

function withEntries(lasting: string, entries: readonly Drawn[], at: number): string {
  if (entries.length === 0) return lasting;
  const lines = entries.map(
    ({ text, from }) => `- ${encodeProvenance(entryText(text), provenanceOf(from, at))}`,
  );
  return `${lasting.replace(/\n*$/, lasting === "" ? "" : "\n")}${lines.join("\n")}\n`;
}

/** What is drawn from others' words is theirs. */
function provenanceOf(from: readonly Section[], at: number): Provenance {
  const untrusted = from.find(({ provenance }) => provenance.untrusted !== undefined)?.provenance.untrusted;
  return {
    at,
    from: from.map(({ text }) => hashOf(text)),
    ...(untrusted === undefined ? {} : { untrusted }),
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

/** What people wrote stays; of what was drawn from notes, which still have it, the oldest leaves first. */
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
