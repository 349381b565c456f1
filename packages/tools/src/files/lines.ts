import type { FileHandle } from "node:fs/promises";
import { cutWell, type TextEncoding } from "./text.ts";

/** The lines asked for, as far as they fit. */
export interface LineSlice {
  readonly text: string;
  /** The first line in `text`, from 1. */
  readonly from: number;
  /** The last line in `text`, `from - 1` when there is none. */
  readonly to: number;
  /** The last line was cut, since it alone is too long. */
  readonly cutLine: boolean;
  /** Whether anything follows. */
  readonly more: boolean;
  /** Lines of the file, where its end was reached. */
  readonly total?: number;
}

const CHUNK_BYTES = 262_144;

/**
 * Reads lines `offset` to `offset + limit - 1`, at most `maxChars` UTF-16 units, streaming: what comes before is read
 * and dropped, what comes after is not read. A character is never cut.
 */
export async function readLines(
  handle: FileHandle,
  encoding: TextEncoding,
  range: { readonly offset: number; readonly limit: number; readonly maxChars: number },
  signal: AbortSignal,
): Promise<LineSlice> {
  const decoder = new TextDecoder(encoding);
  const buffer = new Uint8Array(CHUNK_BYTES);
  const kept: string[] = [];
  let room = range.maxChars;
  let line = 1;
  let position = 0;
  let partial = "";
  let ended = false;

  const slice = (more: boolean, cutLine: boolean, total?: number): LineSlice => ({
    text: kept.join(""),
    from: range.offset,
    to: range.offset + kept.length - 1,
    cutLine,
    more,
    ...(total === undefined ? {} : { total }),
  });
  /** Takes one line with its end; says when that was the last one wanted. */
  const take = (text: string): "go-on" | "full" | "cut" => {
    if (line < range.offset) {
      line += 1;
      return "go-on";
    }
    if (kept.length >= range.limit) return "full";
    if (text.length > room) {
      if (kept.length > 0) return "full";
      kept.push(cutWell(text, room));
      return "cut";
    }
    kept.push(text);
    room -= text.length;
    line += 1;
    return "go-on";
  };

  while (!ended) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    position += bytesRead;
    ended = bytesRead === 0;
    const text = decoder.decode(buffer.subarray(0, bytesRead), { stream: !ended });
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      const taken = take(partial + text.slice(from, at + 1));
      partial = "";
      from = at + 1;
      if (taken !== "go-on") return slice(true, taken === "cut");
    }
    partial += text.slice(from);
    // A line without end must not be gathered without end: before the range one character says that there is a line,
    // in it there is no room.
    if (line < range.offset) partial = partial.slice(-1);
    else if (partial.length > room) {
      const taken = take(partial);
      if (taken !== "go-on") return slice(true, taken === "cut");
    }
  }
  if (partial !== "") {
    const taken = take(partial);
    if (taken !== "go-on") return slice(true, taken === "cut");
    return slice(false, false, line - 1);
  }
  return slice(false, false, line - 1);
}
