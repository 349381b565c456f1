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
  /** Where turns are taken out too; absent where somebody else keeps the conversations. */
  readonly log: TurnLog | undefined;
}

/** What is to be taken out of the files. */
interface Removal {
  readonly turns: readonly string[];
  readonly sections: readonly { readonly path: string; readonly hashes: readonly string[] }[];
}

/** Kept while something is being forgotten, so that a crash does not leave it half done. Says nothing of any text. */
const UNDER_WAY = ".forgetting";

/** Takes chunks out of the files, with everything that was drawn from them, and gives the turns among them. */
export async function forget(
  ports: ForgetPorts,
  chunks: readonly IndexedChunk[],
): Promise<readonly string[]> {
  const removal: Removal = {
    turns: chunks.filter(({ source }) => source === "turn").map(({ id }) => id),
    sections: [...sectionsByPath(chunks), ...(await derivedFrom(ports.folder, chunks))],
  };
  await writeNote(ports.folder, UNDER_WAY, JSON.stringify(removal));
  await carryOut(ports, removal);
  return removal.turns;
}

/** Ends what a crash broke off, and gives the turns that were to be forgotten; undefined where there was nothing. */
export async function finishForgetting(ports: ForgetPorts): Promise<readonly string[] | undefined> {
  const text = await readNote(ports.folder, UNDER_WAY);
  if (text === undefined) return undefined;
  const removal: Removal = JSON.parse(text);
  await carryOut(ports, removal);
  return removal.turns;
}

async function carryOut({ folder, notebook, forgotten, log }: ForgetPorts, removal: Removal): Promise<void> {
  await forgotten.add(removal.turns);
  await log?.remove(new Set(removal.turns));
  for (const { path, hashes } of removal.sections) await notebook.remove(path, new Set(hashes));
  await rm(join(folder, UNDER_WAY), { force: true });
}

function sectionsByPath(chunks: readonly IndexedChunk[]): Removal["sections"] {
  const notes = chunks.flatMap(({ note, hash }) => (note === undefined ? [] : [{ path: note.path, hash }]));
  return [...Map.groupBy(notes, ({ path }) => path)].map(([path, group]) => ({
    path,
    hashes: group.map(({ hash }) => hash),
  }));
}

/** Entries that were drawn from these chunks. */
async function derivedFrom(folder: string, chunks: readonly IndexedChunk[]): Promise<Removal["sections"]> {
  const gone = new Set(chunks.map(({ hash }) => hash));
  const removals: { path: string; hashes: string[] }[] = [];
  for (const { path } of await listNotes(folder)) {
    if (!isLasting(path)) continue;
    const derived = sectionsOf((await readNote(folder, path)) ?? "").filter(({ provenance }) =>
      provenance.from?.some((hash) => gone.has(hash)),
    );
    const hashes = derived.map(({ text }) => hashOf(text));
    if (hashes.length > 0) removals.push({ path, hashes });
  }
  return removals;
}
