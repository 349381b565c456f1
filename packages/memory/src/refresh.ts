import { setImmediate } from "node:timers/promises";
import type { NewChunk } from "./database/chunks.ts";
import type { MemoryIndex } from "./database/memory-index.ts";
import type { Forgotten } from "./forgotten.ts";
import { hashOf } from "./hash.ts";
import { listNotes, type NoteFile, readNote } from "./notes/folder.ts";
import { chunkOfTurn, chunksOfNote } from "./to-chunk.ts";
import type { TurnSource } from "./turns/turn-log.ts";
import type { Scope, Turn } from "./types.ts";
import { problemOfTurn } from "./validate.ts";

/** Number of turns to index in one transaction. The event loop runs between transactions. */
const TURNS_PER_TRANSACTION = 250;
/** Number of note sections to index in one transaction. They are longer than turns, about 1,000 characters. */
const SECTIONS_PER_TRANSACTION = 20;
/** Maximum number of bytes of a note file that are indexed. A larger file would block searches. */
const MAX_NOTE_BYTES = 1_000_000;
/** Milliseconds after a change for which a file is read again, because another change may have the same timestamp. */
const UNSETTLED_MS = 100;

/**
 * Indexes changed note files and removes deleted ones.
 *
 * @param onRead is called with the text of each changed file
 */
export async function refreshNotes(
  index: MemoryIndex,
  folder: string,
  topScope: Scope,
  onRead: (path: string, text: string) => Promise<void>,
): Promise<void> {
  const gone = new Map(index.files().map((file) => [file.path, file]));
  for (const file of await listNotes(folder)) {
    const indexed = gone.get(file.path);
    gone.delete(file.path);
    if (indexed !== undefined && indexed.size === file.size && indexed.changedAt === file.changedAt) continue;
    const text = await readNote(folder, file.path, MAX_NOTE_BYTES);
    if (text === undefined) {
      await removeFile(index, file.path);
      continue;
    }
    const hash = hashOf(text);
    if (indexed?.hash !== hash) {
      await replaceChunks(index, file, chunksOfNote(file.path, text, topScope));
      await onRead(file.path, text);
    }
    index.putFile({ ...file, hash, changedAt: settledTime(file) });
    await setImmediate();
  }
  for (const path of gone.keys()) await removeFile(index, path);
}

/** Marks the file as not indexed first, so that it is indexed again after a crash midway. */
async function replaceChunks(
  index: MemoryIndex,
  { path }: NoteFile,
  chunks: readonly NewChunk[],
): Promise<void> {
  index.putFile({ path, size: -1, changedAt: 0, hash: "" });
  await inBatches(index.chunks.ofFile(path), (batch) => index.removeChunks(batch));
  await inBatches(chunks, (batch) => index.addChunks(batch));
}

async function removeFile(index: MemoryIndex, path: string): Promise<void> {
  await inBatches(index.chunks.ofFile(path), (batch) => index.removeChunks(batch));
  index.removeFile(path);
}

async function inBatches<T>(all: readonly T[], work: (batch: readonly T[]) => void): Promise<void> {
  for (let start = 0; start < all.length; start += SECTIONS_PER_TRANSACTION) {
    work(all.slice(start, start + SECTIONS_PER_TRANSACTION));
    await setImmediate();
  }
}

export interface RefreshTurnsOptions {
  readonly source: TurnSource;
  readonly forgotten: Forgotten;
  readonly onProblem: (problem: string) => void;
}

/** Indexes the turns after the index's marks. */
export async function refreshTurns(
  index: MemoryIndex,
  { source, forgotten, onProblem }: RefreshTurnsOptions,
): Promise<void> {
  let isAnyRemoved = false;
  for await (const { turns, marks, startsOver = false } of source.read(index.marks, TURNS_PER_TRANSACTION)) {
    if (startsOver) isAnyRemoved = await removeTurns(index);
    const wanted = turns.filter((turn) => isValid(turn, onProblem) && !forgotten.has(turn.id));
    index.addTurns(wanted.map(chunkOfTurn), marks);
    await setImmediate();
  }
  // Turns that were removed from the source are purged from the index file too.
  if (isAnyRemoved) await index.forget([]);
}

/** A single turn that the index rejects would make the whole memory unsearchable. */
function isValid(turn: Turn, onProblem: (problem: string) => void): boolean {
  const problem = problemOfTurn(turn);
  if (problem !== undefined)
    onProblem(`Skipped turn ${JSON.stringify(turn.id)}, which is not valid: ${problem}`);
  return problem === undefined;
}

/** @returns whether there were any */
async function removeTurns(index: MemoryIndex): Promise<boolean> {
  const nextTurns = () => index.chunks.ofTurns(SECTIONS_PER_TRANSACTION);
  let removed = 0;
  for (let batch = nextTurns(); batch.length > 0; batch = nextTurns()) {
    index.removeChunks(batch);
    removed += batch.length;
    await setImmediate();
  }
  return removed > 0;
}

function settledTime({ changedAt }: NoteFile): number {
  return Date.now() - changedAt / 1_000 < UNSETTLED_MS ? 0 : changedAt;
}
