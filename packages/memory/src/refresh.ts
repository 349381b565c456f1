import { setImmediate } from "node:timers/promises";
import type { MemoryIndex } from "./database/memory-index.ts";
import type { Forgotten } from "./forgotten.ts";
import { hashOf } from "./hash.ts";
import { listNotes, type NoteFile, readNote } from "./notes/folder.ts";
import { chunkOfTurn, chunksOfNote } from "./to-chunk.ts";
import type { TurnSource } from "./turns/turn-log.ts";
import type { Scope } from "./types.ts";

/** So many turns are indexed at once, between which other work goes on. */
const TURNS = 250;
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
    const known = before.get(file.path);
    before.delete(file.path);
    if (known !== undefined && known.size === file.size && known.changedAt === file.changedAt) continue;
    const text = await readNote(folder, file.path);
    if (text === undefined) {
      index.removeFile(file.path);
      continue;
    }
    const hash = hashOf(text);
    const chunks = known?.hash === hash ? undefined : chunksOfNote(file.path, text, topScope);
    index.replaceFile({ ...file, hash, changedAt: settled(file) }, chunks);
    if (chunks !== undefined) await onRead(file.path, text);
    await setImmediate();
  }
  for (const path of before.keys()) index.removeFile(path);
}

/** Reads on where the index stopped, until there is no more. */
export async function refreshTurns(
  index: MemoryIndex,
  source: TurnSource,
  forgotten: Forgotten,
): Promise<void> {
  for (;;) {
    const page = await source.read(index.cursor(), TURNS);
    const turns = page.turns.filter(({ id }) => !forgotten.has(id));
    if (page.cursor !== index.cursor()) index.addTurns(turns.map(chunkOfTurn), page.cursor);
    if (page.last) return;
    await setImmediate();
  }
}

function settled({ changedAt }: NoteFile): number {
  return Date.now() - changedAt / 1_000 < UNSETTLED_MS ? 0 : changedAt;
}
