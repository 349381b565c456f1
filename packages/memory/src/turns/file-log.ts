import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "../notes/folder.ts";
import type { Turn } from "../types.ts";
import { isTurn, problemOfTurn } from "../validate.ts";
import {
  type FilePosition,
  type FileStat,
  formatPosition,
  hasGrown,
  isSameStat,
  parsePosition,
  statOf,
  tailOf,
} from "./file-position.ts";
import type { TurnLog, TurnPage } from "./turn-log.ts";

const READ_BYTES = 65_536;
const NEWLINE = 0x0a;
const SPACE = 0x20;

/** Name of the mark that stores the position in the file. */
const POSITION = "file";

interface Line {
  /** Offset in the file. */
  readonly start: number;
  readonly bytes: Buffer;
}

/**
 * Stores turns in a file, one line of JSON each. New turns are appended. A turn is removed by overwriting its line with
 * spaces, which keeps the offsets of the others. If another program changed lines that were already read, the file is
 * read from the beginning. Lines that are not valid turns are skipped.
 *
 * @param onProblem is called when a read skips lines
 */
export function createFileLog(path: string, onProblem: (problem: string) => void): TurnLog {
  /** The file's state before and after the last removal, which needs no second reading. */
  let removal: { readonly before: FileStat; readonly after: FileStat } | undefined;

  async function startFrom(position: FilePosition | undefined, current: FileStat): Promise<number> {
    if (position === undefined) return 0;
    const isOwnChange =
      removal !== undefined &&
      isSameStat(position.stat, removal.before) &&
      isSameStat(current, removal.after);
    return isOwnChange || (await hasGrown(path, position, current)) ? position.end : 0;
  }

  return {
    async append(turns) {
      await mkdir(dirname(path), { recursive: true });
      const handle = await open(path, "a+", 0o600);
      try {
        const { size } = await handle.stat();
        const isTorn = size > 0 && (await byteAt(handle, size - 1)) !== NEWLINE;
        const lines = turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
        await handle.appendFile(isTorn ? `\n${lines}` : lines);
        await handle.datasync();
      } finally {
        await handle.close();
      }
    },

    async *read(marks, limit) {
      const position = parsePosition(marks.get(POSITION));
      const current = await statOf(path);
      if (isSameStat(position?.stat, current)) return;
      let end = await startFrom(position, current);
      let startsOver = end === 0;
      let turns: Turn[] = [];
      const skipped: string[] = [];
      const page = async (stat?: FileStat): Promise<TurnPage> => {
        const read = { end, tail: await tailOf(path, end), stat };
        const made = { turns, startsOver, marks: new Map([[POSITION, formatPosition(read)]]) };
        startsOver = false;
        turns = [];
        return made;
      };
      for await (const line of linesFrom(path, end)) {
        end = line.start + line.bytes.length;
        const parsed = parseTurn(line);
        if (typeof parsed === "string") skipped.push(parsed);
        else if (parsed !== undefined) turns.push(parsed);
        if (turns.length >= limit) yield page();
      }
      const [first] = skipped;
      if (first !== undefined)
        onProblem(`Skipped ${count(skipped.length)} of ${path} that ${isOrAre(skipped.length)}. ${first}`);
      yield page(current);
    },

    async remove(ids) {
      const before = await statOf(path);
      const removed: Line[] = [];
      for await (const line of linesFrom(path, 0)) {
        const turn = parseTurn(line);
        if (typeof turn === "object" && ids.has(turn.id)) removed.push(line);
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
      removal = { before, after: await statOf(path) };
    },
  };
}

/** Reads complete lines. Ignores an incomplete line at the end. */
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

/** @returns the turn, the problem of the line, or `undefined` for a blank line */
function parseTurn({ start, bytes }: Line): Turn | string | undefined {
  const text = bytes.toString("utf8").trim();
  if (text === "") return undefined;
  try {
    const turn: unknown = JSON.parse(text);
    return isTurn(turn) ? turn : `At byte ${start}: ${problemOfTurn(turn)}`;
  } catch {
    return `At byte ${start}: it is not valid JSON.`;
  }
}

function count(lines: number): string {
  return lines === 1 ? "a line" : `${lines} lines`;
}

function isOrAre(lines: number): string {
  return lines === 1 ? "is not a valid turn" : "are not valid turns";
}
