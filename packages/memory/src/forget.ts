import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { IndexedChunk } from "./database/chunks.ts";
import type { Forgotten } from "./forgotten.ts";
import { hashOf } from "./hash.ts";
import { listNotes, readNote, writeNote } from "./notes/folder.ts";
import { isLasting, type Notebook } from "./notes/notebook.ts";
import { sectionsOf } from "./notes/sections.ts";
import type { TurnLog } from "./turns/turn-log.ts";

export interface ForgetPorts {
  readonly folder: string;
  readonly notebook: Notebook;
  readonly forgotten: Forgotten;
  /** `undefined` if the host itself stores the conversations. */
  readonly log: TurnLog | undefined;
}

/** Turns and sections to remove from the files. */
interface Removal {
  readonly turns: readonly string[];
  readonly sections: readonly { readonly path: string; readonly hashes: readonly string[] }[];
}

/**
 * Marker file that exists while something is being forgotten, so that a crash cannot leave the removal incomplete.
 * Contains no text.
 */
const PENDING_FILE = ".forgetting";

/**
 * Removes chunks, and everything derived from them, from the files.
 *
 * @returns the ids of the turns among them
 */
export async function forget(
  ports: ForgetPorts,
  chunks: readonly IndexedChunk[],
): Promise<readonly string[]> {
  const removal: Removal = {
    turns: chunks.filter(({ source }) => source === "turn").map(({ id }) => id),
    sections: [...sectionsByPath(chunks), ...(await derivedFrom(ports.folder, chunks))],
  };
  await writeNote(ports.folder, PENDING_FILE, JSON.stringify(removal));
  await carryOut(ports, removal);
  return removal.turns;
}

/**
 * Completes a removal that a crash interrupted.
 *
 * @returns the ids of its turns, or `undefined` if no removal was interrupted
 */
export async function finishForgetting(ports: ForgetPorts): Promise<readonly string[] | undefined> {
  const text = await readNote(ports.folder, PENDING_FILE);
  if (text === undefined) return undefined;
  const removal: Removal = JSON.parse(text);
  await carryOut(ports, removal);
  return removal.turns;
}

async function carryOut({ folder, notebook, forgotten, log }: ForgetPorts, removal: Removal): Promise<void> {
  await forgotten.add(removal.turns);
  await log?.remove(new Set(removal.turns));
  for (const { path, hashes } of removal.sections) await notebook.remove(path, new Set(hashes));
  await rm(join(folder, PENDING_FILE), { force: true });
}

function sectionsByPath(chunks: readonly IndexedChunk[]): Removal["sections"] {
  const notes = chunks.flatMap(({ note, hash }) => (note === undefined ? [] : [{ path: note.path, hash }]));
  return [...Map.groupBy(notes, ({ path }) => path)].map(([path, group]) => ({
    path,
    hashes: group.map(({ hash }) => hash),
  }));
}

/** Returns the entries that were derived from these chunks. */
async function derivedFrom(folder: string, chunks: readonly IndexedChunk[]): Promise<Removal["sections"]> {
  const removed = new Set(chunks.map(({ hash }) => hash));
  const removals: { path: string; hashes: string[] }[] = [];
  for (const { path } of await listNotes(folder)) {
    if (!isLasting(path)) continue;
    const derived = sectionsOf((await readNote(folder, path)) ?? "").filter(({ provenance }) =>
      provenance.from?.some((hash) => removed.has(hash)),
    );
    const hashes = derived.map(({ text }) => hashOf(text));
    if (hashes.length > 0) removals.push({ path, hashes });
  }
  return removals;
}
