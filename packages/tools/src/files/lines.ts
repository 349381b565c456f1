import type { FileHandle } from "node:fs/promises";
import { type TextEncoding, truncateText } from "./text.ts";

/** The requested lines that fit. */
export interface LineSlice {
  readonly text: string;
  /** The first line in `text`, from 1. */
  readonly from: number;
  /** The last line in `text`, or `from - 1` if `text` is empty. */
  readonly to: number;
  /** True if the last line was cut because this line by itself exceeds the limit. */
  readonly cutLine: boolean;
  /** True if there are more lines. */
  readonly more: boolean;
  /** Number of lines in the file. Present if the end of the file was reached. */
  readonly total?: number;
}

const CHUNK_BYTES = 262_144;

/**
 * Reads the lines from `offset` to `offset + limit - 1`, up to `maxChars` UTF-16 units. Streams the file up to the last
 * of these lines and drops the lines before `offset`. Never splits a character.
 */
export async function readLines(
  handle: FileHandle,
  encoding: TextEncoding,
  range: { readonly offset: number; readonly limit: number; readonly maxChars: number },
  signal: AbortSignal,
): Promise<LineSlice> {
  const decoder = new TextDecoder(encoding);
  const buffer = new Uint8Array(CHUNK_BYTES);
  const collected: string[] = [];
  let room = range.maxChars;
  let line = 1;
  let position = 0;
  let partial = "";
  let ended = false;

  const slice = (more: boolean, cutLine: boolean, total?: number): LineSlice => ({
    text: collected.join(""),
    from: range.offset,
    to: range.offset + collected.length - 1,
    cutLine,
    more,
    ...(total === undefined ? {} : { total }),
  });
  /** Adds one line, including its line break. Returns `full` or `cut` after the last requested line. */
  const take = (text: string): "go-on" | "full" | "cut" => {
    if (line < range.offset) {
      line += 1;
      return "go-on";
    }
    if (collected.length >= range.limit) return "full";
    if (text.length > room) {
      if (collected.length > 0) return "full";
      collected.push(truncateText(text, room));
      return "cut";
    }
    collected.push(text);
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
      const outcome = take(partial + text.slice(from, at + 1));
      partial = "";
      from = at + 1;
      if (outcome !== "go-on") return slice(true, outcome === "cut");
    }
    partial += text.slice(from);
    // Limits memory use for very long lines. Before the range, one character is kept to show that there is a line.
    // Within the range, the line is cut as soon as it exceeds the remaining space.
    if (line < range.offset) partial = partial.slice(-1);
    else if (partial.length > room) {
      const outcome = take(partial);
      if (outcome !== "go-on") return slice(true, outcome === "cut");
    }
  }
  if (partial !== "") {
    const outcome = take(partial);
    if (outcome !== "go-on") return slice(true, outcome === "cut");
    return slice(false, false, line - 1);
  }
  return slice(false, false, line - 1);
}
