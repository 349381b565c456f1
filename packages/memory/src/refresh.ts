import { setImmediate } from "node:timers/promises";
import type { NewChunk } from "./database/chunks.ts";
import type { MemoryIndex } from "./database/memory-index.ts";
import type { Forgotten } from "./forgotten.ts";
import { hashOf } from "./hash.ts";
import { listNotes, type NoteFile, readNote } from "./notes/folder.ts";
import { chunkOfTurn, chunksOfNote } from "./to-chunk.ts";
import type { TurnSource } from "./turns/turn-log.ts";
import type { Scope } from "./types.ts";

/** So many turns are indexed at once, between which other work goes on. */
const TURNS = 250;
/** The same of the chunks of a file, which are of about a thousand characters. */
const CHUNKS = 20;
/** Bytes of one file of notes: what is beyond is not found, and holds nobody up. */
const MOST_READ = 1_000_000;
/** A file that changed so shortly before it was read may have changed again without showing it. */
const UNSETTLED_MS = 100;

/** Brings the index to what the files say: reads those that changed since, and drops those that are gone. */
export async function refreshNotes(
  index: MemoryIndex,
  folder: string,
  topScope: Scope,
  onRead: (path: string, text: string) => Promise<void>,
): Promise<void> {
  const before = new Map(index.files().map((file) => [file.path, file]));
  for (const file of await listNotes(folder)) {
    const indexed = before.get(file.path);
    before.delete(file.path);
    if (indexed !== undefined && indexed.size === file.size && indexed.changedAt === file.changedAt) continue;
    const text = await readNote(folder, file.path, MOST_READ);
    if (text === undefined) {
      await removeFile(index, file.path);
      continue;
    }
    const hash = hashOf(text);
    if (indexed?.hash !== hash) {
      await replaceChunks(index, file, chunksOfNote(file.path, text, topScope));
      await onRead(file.path, text);
    }
    index.putFile({ ...file, hash, changedAt: settled(file) });
    await setImmediate();
  }
  for (const path of before.keys()) await removeFile(index, path);
}

/** The file counts as not read meanwhile: what a crash leaves half-way is done again. */
async function replaceChunks(
  index: MemoryIndex,
  { path }: NoteFile,
  chunks: readonly NewChunk[],
): Promise<void> {
  index.putFile({ path, size: -1, changedAt: 0, hash: "" });
  await inSlices(index.chunks.ofFile(path), (some) => index.removeChunks(some));
  await inSlices(chunks, (some) => index.addChunks(some));
}

async function removeFile(index: MemoryIndex, path: string): Promise<void> {
  await inSlices(index.chunks.ofFile(path), (some) => index.removeChunks(some));
  index.removeFile(path);
}

/** A few at a time, between which other work goes on. */
async function inSlices<T>(all: readonly T[], work: (some: readonly T[]) => void): Promise<void> {
  for (let start = 0; start < all.length; start += CHUNKS) {
    work(all.slice(start, start + CHUNKS));
    await setImmediate();
  }
}

/** Reads on where the index stopped, until there is no more. */
export async function refreshTurns(
  index: MemoryIndex,
  source: TurnSource,
  forgotten: Forgotten,
): Promise<void> {
  let isRemoved = false;
  for await (const { turns, marks, startsOver = false } of source.read(index.marks, TURNS)) {
    if (startsOver) isRemoved = await removeTurns(index);
    const wanted = turns.filter(({ id }) => !forgotten.has(id));
    index.addTurns(wanted.map(chunkOfTurn), marks);
    await setImmediate();
  }
  // Whoever took something out wants nothing left of it.
  if (isRemoved) index.forget([]);
}

/** Gives whether there were any. */
async function removeTurns(index: MemoryIndex): Promise<boolean> {
  let removed = 0;
  for (let some = index.chunks.ofTurns(CHUNKS); some.length > 0; some = index.chunks.ofTurns(CHUNKS)) {
    index.removeChunks(some);
    removed += some.length;
    await setImmediate();
  }
  return removed > 0;
}

function settled({ changedAt }: NoteFile): number {
  return Date.now() - changedAt / 1_000 < UNSETTLED_MS ? 0 : changedAt;
}
