import { hashOf } from "../hash.ts";
import type { Scope } from "../types.ts";
import { dayFile, listNotes, timeOfPath } from "./folder.ts";
import type { Notebook } from "./notebook.ts";
import { encodeProvenance, entryText } from "./provenance.ts";
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

/** Draws lasting entries from the notes of days before yesterday, each day once. */
export async function consolidate(
  notebook: Notebook,
  folder: string,
  scope: Scope,
  options: ConsolidateOptions,
  now: number,
): Promise<Consolidation> {
  const lastingPath = notebook.pathIn(scope, "MEMORY.md");
  const markPath = notebook.pathIn(scope, ".consolidated");
  const before = (await notebook.read(lastingPath)) ?? "";
  const doneTo = ((await notebook.read(markPath)) ?? "").trim();
  const paths = await daysBetween(folder, notebook.pathIn(scope, ""), doneTo, dayFile(now - DAY_MS));
  const sources = await sectionsOfDays(notebook, paths);
  const days = sources.map(({ day }) => day);
  if (sources.length === 0) return { days: [], added: 0, dropped: 0 };

  const entries = await options.distil(
    sources.map(({ day, section: { text, provenance } }) => ({
      day,
      text,
      ...(provenance.untrusted === undefined ? {} : { untrusted: provenance.untrusted }),
    })),
    before,
  );
  const lines = entries.map(({ text, from }) => {
    const drawnFrom = from.flatMap((place) => sources[place]?.section ?? []);
    const untrusted = drawnFrom.find(({ provenance }) => provenance.untrusted !== undefined)?.provenance
      .untrusted;
    return `- ${encodeProvenance(entryText(text), {
      at: now,
      from: drawnFrom.map((section) => hashOf(section.text)),
      ...(untrusted === undefined ? {} : { untrusted }),
    })}`;
  });
  const grown =
    lines.length === 0 ? before : `${before.replace(/\n*$/, before === "" ? "" : "\n")}${lines.join("\n")}\n`;
  const { text, dropped } = cutTo(grown, options.maxChars ?? DEFAULT_MAX_CHARS);
  await notebook.replace(lastingPath, text);
  await notebook.replace(markPath, `${paths.at(-1)}\n`);
  return { days: [...new Set(days)], added: lines.length, dropped };
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
