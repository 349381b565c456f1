import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { hashOf } from "../hash.ts";
import type { NoteKind, Scope } from "../types.ts";
import { dayFile, folderOfScope, LASTING, partId, readNote, writeNote } from "./folder.ts";
import { decodeProvenance, encodeProvenance, entryText, type Provenance } from "./provenance.ts";
import { type NoteParts, partsOf, type Section, sectionsOf } from "./sections.ts";
import { createVersions, type NoteVersion, type Versions } from "./versions.ts";

/** A note, separated into trusted and untrusted text. */
export interface WholeNote extends NoteParts {
  /** Relative to the folder. */
  readonly path: string;
}

/** The outcome of writing an entry. */
export interface WrittenEntry {
  readonly id: string;
  /** False if the note already had the same entry. */
  readonly isNew: boolean;
}

/** Reads and changes the note files. */
export interface Notebook {
  /** Appends an entry to a note, unless the note already has it. */
  write(
    entry: string,
    provenance: Provenance,
    to: { readonly kind: NoteKind; readonly scope: Scope },
  ): Promise<WrittenEntry>;
  /** Returns `MEMORY.md` and the notes of yesterday and today, without empty ones. */
  current(scope: Scope, now: number): Promise<WholeNote[]>;
  /**
   * Replaces the text of a section.
   *
   * @returns false if no section with the text `before` starts at this line
   */
  edit(
    path: string,
    section: { readonly line: number; readonly before: string },
    text: string,
  ): Promise<boolean>;
  /** Removes sections by the hashes of their texts, from the note and all its earlier versions. */
  remove(path: string, hashes: ReadonlySet<string>): Promise<void>;
  replace(path: string, text: string): Promise<void>;
  read(path: string): Promise<string | undefined>;
  /** Returns the path of a scope's note. */
  pathIn(scope: Scope, name: string): string;
  readonly versions: Versions;
  restore(version: NoteVersion): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Maximum number of bytes of a note that are read for a prompt. */
const MAX_SHOWN_BYTES = 200_000;
/** Cache lifetime in milliseconds. Notes are cached, because every message reads them. */
const CACHE_MS = 1_000;

/** @param topScope the scope of the notes at the top of the folder */
export function createNotebook(folder: string, topScope: Scope, now: () => number): Notebook {
  const versions = createVersions(folder);
  const cache = new Map<string, { readonly at: number; readonly notes: Promise<WholeNote[]> }>();

  function pathIn(scope: Scope, name: string): string {
    return isSameScope(scope, topScope) ? name : `${folderOfScope(scope)}${name}`;
  }

  async function replace(path: string, text: string): Promise<void> {
    const before = await readNote(folder, path);
    if (before === text) return;
    if (before !== undefined && isLasting(path)) await versions.keep(path, before, now());
    await put(path, text);
  }

  async function put(path: string, text: string): Promise<void> {
    await writeNote(folder, path, text);
    cache.clear();
  }

  /** @param paths in the same folder */
  async function readNotes(paths: readonly string[]): Promise<WholeNote[]> {
    // Most people have no notes.
    if (!existsSync(join(folder, dirname(paths[0] ?? "")))) return [];
    const texts = await Promise.all(paths.map((path) => readNote(folder, path, MAX_SHOWN_BYTES)));
    return paths
      .map((path, index) => ({ path, ...partsOf(texts[index] ?? "") }))
      .filter(({ text, untrusted }) => text !== "" || untrusted !== "");
  }

  return {
    versions,
    replace,
    pathIn,
    read: (path) => readNote(folder, path),
    async write(entry, provenance, { kind, scope }) {
      const path = pathIn(scope, kind === "lasting" ? LASTING : dayFile(provenance.at ?? now()));
      const before = (await readNote(folder, path)) ?? "";
      const same = sectionsOf(before).find((section) => hasEntry(section, entry, provenance));
      if (same !== undefined) return { id: partId(path, same.lines[0]), isNew: false };
      const above = before === "" || before.endsWith("\n") ? before : `${before}\n`;
      await replace(path, `${above}- ${encodeProvenance(entryText(entry), provenance)}\n`);
      return { id: partId(path, above.split("\n").length), isNew: true };
    },
    async edit(path, { line, before }, text) {
      const markdown = (await readNote(folder, path)) ?? "";
      const section = sectionsOf(markdown).find((each) => each.lines[0] === line && each.text === before);
      if (section === undefined) return false;
      await replace(path, withSection(markdown, section, text));
      return true;
    },
    current(scope, at) {
      const paths = [LASTING, dayFile(at - DAY_MS), dayFile(at)].map((name) => pathIn(scope, name));
      const key = paths.join("\n");
      const last = cache.get(key);
      if (last !== undefined && at >= last.at && at - last.at < CACHE_MS) return last.notes;
      for (const [each, { at: then }] of cache) if (at - then >= CACHE_MS) cache.delete(each);
      const notes = readNotes(paths);
      cache.set(key, { at, notes });
      return notes;
    },
    async remove(path, hashes) {
      const without = (text: string) => withoutSections(text, hashes);
      const text = await readNote(folder, path);
      if (text !== undefined && without(text) !== text) await put(path, without(text));
      await versions.rewrite(path, without);
    },
    async restore(version) {
      const text = await versions.read(version);
      if (text === undefined) throw new Error(`Version ${version.id} of ${version.path} no longer exists.`);
      await replace(version.path, text);
    },
  };
}

/** Returns true if earlier versions of a note are kept. */
export function isLasting(path: string): boolean {
  return path.split("/").at(-1) === LASTING;
}

function isSameScope(a: Scope, b: Scope): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Returns true if a section has the same entry. An entry by another author or with less trust does not count, so that
 * another person's entry cannot prevent a note.
 */
function hasEntry(section: Section, entry: string, { author, untrusted }: Provenance): boolean {
  const { provenance } = section;
  if (provenance.untrusted !== undefined && untrusted === undefined) return false;
  if (provenance.author !== undefined && provenance.author.id !== author?.id) return false;
  const key = toComparable(entryText(entry));
  return section.text.split("\n").some((line) => toComparable(line) === key);
}

/** Ignores case, spacing, list markers and final punctuation. */
function toComparable(line: string): string {
  return line
    .normalize("NFKC")
    .toLowerCase()
    .replace(/^[\s*-]+/, "")
    .replaceAll(/\s+/g, " ")
    .replace(/[\s.。!?,;:…]+$/, "");
}

/** Replaces the text of a section. Keeps its provenance comment, if it has one. */
function withSection(markdown: string, { lines: [first, last] }: Section, text: string): string {
  const lines = markdown.split("\n");
  const { provenance } = decodeProvenance(lines[first - 1] ?? "");
  const edited = provenance === undefined ? text.trim() : encodeProvenance(entryText(text), provenance);
  return [...lines.slice(0, first - 1), edited, ...lines.slice(last)].join("\n");
}

/** Removes the lines of some sections from a note. */
function withoutSections(markdown: string, hashes: ReadonlySet<string>): string {
  const removed = sectionsOf(markdown).filter(({ text }) => hashes.has(hashOf(text)));
  if (removed.length === 0) return markdown;
  return markdown
    .split("\n")
    .filter(
      (_, index) => !removed.some(({ lines: [first, last] }) => index + 1 >= first && index + 1 <= last),
    )
    .join("\n");
}
