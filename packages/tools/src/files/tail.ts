import type { FileHandle } from "node:fs/promises";
import type { TextEncoding } from "./text.ts";

/** Maximum number of bytes per UTF-16 unit in any of the encodings. */
const BYTES_PER_UNIT = 4;
const NEWLINE = 0x0a;

/** Reads the end of a text file, up to `maxChars` UTF-16 units. Starts at a line break if there is one. */
export async function readTail(
  handle: FileHandle,
  encoding: TextEncoding,
  fileBytes: number,
  maxChars: number,
): Promise<string> {
  const length = Math.min(fileBytes, maxChars * BYTES_PER_UNIT);
  // UTF-16 must be read from an even offset.
  const from = fileBytes - length - ((fileBytes - length) % 2);
  const buffer = new Uint8Array(fileBytes - from);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  const bytes = buffer.subarray(0, bytesRead);
  const start = from === 0 ? 0 : findCharacterStart(bytes, encoding);
  const text = new TextDecoder(encoding).decode(bytes.subarray(start)).slice(-maxChars);
  const lineEnd = text.indexOf("\n");
  const whole = lineEnd >= 0 && lineEnd < text.length - 1 ? text.slice(lineEnd + 1) : text;
  return whole.replace(/^[\uDC00-\uDFFF]/, "");
}

/** Returns the first offset at which a character is guaranteed to start. */
function findCharacterStart(bytes: Uint8Array, encoding: TextEncoding): number {
  if (encoding === "utf-8")
    return Math.max(
      0,
      bytes.findIndex((byte) => (byte & 0xc0) !== 0x80),
    );
  // In GB 18030, a line break is never part of another character.
  return encoding === "gb18030" ? bytes.indexOf(NEWLINE) + 1 : 0;
}
