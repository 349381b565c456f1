import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { hashOf } from "../hash.ts";
import type { NoteKind, Scope } from "../types.ts";
import { dayFile, folderOfScope, LASTING, partId, readNote, writeNote } from "./folder.ts";
import { encodeProvenance, entryText, type Provenance } from "./provenance.ts";
import { type NoteParts, partsOf, sectionsOf } from "./sections.ts";
import { createVersions, type NoteVersion, type Versions } from "./versions.ts";

/** A note in full, for the prompt. */
export interface WholeNote extends NoteParts {
  readonly path: string;
}

/** The notes as files: written entry by entry, read whole, forgotten section by section. */
export interface Notebook {
  /** Adds an entry at the end of the note and gives the id that it is found by. */
  write(
    entry: string,
    provenance: Provenance,
    to: { readonly kind: NoteKind; readonly scope: Scope },
  ): Promise<string>;
  /** What lasts, and the notes of yesterday and today, as far as there are any. */
  current(scope: Scope, now: number): Promise<WholeNote[]>;
  /** Removes sections by the hashes of their texts, in the note and in all its earlier states. */
  remove(path: string, hashes: ReadonlySet<string>): Promise<void>;
  replace(path: string, text: string): Promise<void>;
  read(path: string): Promise<string | undefined>;
  /** Where a scope's note of a name is. */
  pathIn(scope: Scope, name: string): string;
  readonly versions: Versions;
  restore(version: NoteVersion): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Bytes of a note that are read for a prompt, which shows less. */
const MOST_SHOWN = 200_000;
/** What was read for a prompt serves others for so long: each message asks for it. */
const SHOWN_MS = 1_000;

/** `topScope` is whose notes stand at the top of the folder. */
export function createNotebook(folder: string, topScope: Scope, now: () => number): Notebook {
  const versions = createVersions(folder);
  const shown = new Map<string, { readonly at: number; readonly notes: Promise<WholeNote[]> }>();

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
    shown.clear();
  }

  /** `paths` are of one folder. */
  async function show(paths: readonly string[]): Promise<WholeNote[]> {
    // Most people have none.
    if (!existsSync(join(folder, dirname(paths[0] ?? "")))) return [];
    const texts = await Promise.all(paths.map((path) => readNote(folder, path, MOST_SHOWN)));
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
      const above = before === "" || before.endsWith("\n") ? before : `${before}\n`;
      await replace(path, `${above}- ${encodeProvenance(entryText(entry), provenance)}\n`);
      return partId(path, above.split("\n").length);
    },
    current(scope, at) {
      const paths = [LASTING, dayFile(at - DAY_MS), dayFile(at)].map((name) => pathIn(scope, name));
      const key = paths.join("\n");
      const last = shown.get(key);
      if (last !== undefined && at >= last.at && at - last.at < SHOWN_MS) return last.notes;
      for (const [each, { at: then }] of shown) if (at - then >= SHOWN_MS) shown.delete(each);
      const notes = show(paths);
      shown.set(key, { at, notes });
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
      if (text === undefined)
        throw new Error(`There is no version ${version.id} of ${version.path} any more.`);
      await replace(version.path, text);
    },
  };
}

/** Notes whose earlier states are kept. */
export function isLasting(path: string): boolean {
  return path.split("/").at(-1) === LASTING;
}

function isSameScope(a: Scope, b: Scope): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A note without the lines of some of its sections. */
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
