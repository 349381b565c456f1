import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "../notes/folder.ts";
import type { Turn } from "../types.ts";
import {
  hasGrown,
  isSameLook,
  type Look,
  lookAt,
  type Place,
  readPlace,
  tailOf,
  writePlace,
} from "./file-place.ts";
import type { TurnLog, TurnPage } from "./turn-log.ts";

const READ_BYTES = 65_536;
const NEWLINE = 0x0a;
const SPACE = 0x20;

/** The mark of the place up to which the file was read. */
const READ = "file";

interface Line {
  readonly start: number;
  readonly bytes: Buffer;
}

/**
 * Turns as lines of JSON in one file that grows at its end. Its mark is a place in it; a turn is removed by writing
 * spaces over its line, so that places stay as they are. Lines that a crash left half written are passed over. Where
 * somebody else has changed what was read, it is read from its beginning.
 */
export function fileTurnLog(path: string): TurnLog {
  /** What removing turns has made of the file: no reason to read it again. */
  let removal: { readonly before: Look; readonly after: Look } | undefined;

  async function startFrom(place: Place | undefined, look: Look): Promise<number> {
    if (place === undefined) return 0;
    const isOwn =
      removal !== undefined && isSameLook(place.look, removal.before) && isSameLook(look, removal.after);
    return isOwn || (await hasGrown(path, place, look)) ? place.end : 0;
  }

  return {
    async append(turns) {
      await mkdir(dirname(path), { recursive: true });
      const handle = await open(path, "a+", 0o600);
      try {
        const { size } = await handle.stat();
        const torn = size > 0 && (await byteAt(handle, size - 1)) !== NEWLINE;
        const lines = turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
        await handle.appendFile(torn ? `\n${lines}` : lines);
        await handle.datasync();
      } finally {
        await handle.close();
      }
    },

    async *read(marks, limit) {
      const place = readPlace(marks.get(READ));
      const look = await lookAt(path);
      if (isSameLook(place?.look, look)) return;
      let end = await startFrom(place, look);
      let startsOver = end === 0;
      let turns: Turn[] = [];
      const page = async (seen?: Look): Promise<TurnPage> => {
        const read = { end, tail: await tailOf(path, end), ...(seen === undefined ? {} : { look: seen }) };
        const made = { turns, startsOver, marks: new Map([[READ, writePlace(read)]]) };
        startsOver = false;
        turns = [];
        return made;
      };
      for await (const line of linesFrom(path, end)) {
        end = line.start + line.bytes.length;
        const turn = parseTurn(line.bytes);
        if (turn !== undefined) turns.push(turn);
        if (turns.length >= limit) yield page();
      }
      yield page(look);
    },

    async remove(ids) {
      const before = await lookAt(path);
      const removed: Line[] = [];
      for await (const line of linesFrom(path, 0)) {
        const turn = parseTurn(line.bytes);
        if (turn !== undefined && ids.has(turn.id)) removed.push(line);
      }
      if (removed.length === 0) return;
      const handle = await open(path, "r+");
      try {
        for (const { start, bytes } of removed) {
          await handle.write(Buffer.alloc(bytes.length - 1, SPACE), 0, bytes.length - 1, start);
        }
        await handle.datasync();
      } finally {
        await handle.close();
      }
      removal = { before, after: await lookAt(path) };
    },
  };
}

/** Whole lines, each with its end; what has none yet is not one. */
async function* linesFrom(path: string, from: number): AsyncGenerator<Line> {
  const handle = await openToRead(path);
  if (handle === undefined) return;
  try {
    let start = from;
    let rest = Buffer.alloc(0);
    for (;;) {
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(READ_BYTES),
        0,
        READ_BYTES,
        start + rest.length,
      );
      if (bytesRead === 0) return;
      rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      let begin = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, begin)) {
        yield { start: start + begin, bytes: rest.subarray(begin, end + 1) };
        begin = end + 1;
      }
      start += begin;
      rest = rest.subarray(begin);
    }
  } finally {
    await handle.close();
  }
}

async function openToRead(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function byteAt(handle: FileHandle, position: number): Promise<number | undefined> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, position);
  return buffer[0];
}

function parseTurn(bytes: Buffer): Turn | undefined {
  const text = bytes.toString("utf8").trim();
  if (text === "") return undefined;
  try {
    const turn: Turn = JSON.parse(text);
    return turn;
  } catch {
    return undefined;
  }
}
