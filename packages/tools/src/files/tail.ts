import type { FileHandle } from "node:fs/promises";
import type { TextEncoding } from "./text.ts";

/** Bytes that one UTF-16 unit takes at most in any of the encodings. */
const BYTES_PER_UNIT = 4;
const NEWLINE = 0x0a;

/**
 * The end of a text file in at most `maxChars` UTF-16 units: whole lines where there are any. Reads only as much of the
 * file as that may be.
 */
export async function readTail(
  handle: FileHandle,
  encoding: TextEncoding,
  fileBytes: number,
  maxChars: number,
): Promise<string> {
  const length = Math.min(fileBytes, maxChars * BYTES_PER_UNIT);
  // UTF-16 is read from an even place.
  const from = fileBytes - length - ((fileBytes - length) % 2);
  const buffer = new Uint8Array(fileBytes - from);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  const bytes = buffer.subarray(0, bytesRead);
  const start = from === 0 ? 0 : characterStart(bytes, encoding);
  const text = new TextDecoder(encoding).decode(bytes.subarray(start)).slice(-maxChars);
  const lineEnd = text.indexOf("\n");
  const whole = lineEnd >= 0 && lineEnd < text.length - 1 ? text.slice(lineEnd + 1) : text;
  return whole.replace(/^[\uDC00-\uDFFF]/, "");
}

/** The first place at which a character surely begins. */
function characterStart(bytes: Uint8Array, encoding: TextEncoding): number {
  if (encoding === "utf-8")
    return Math.max(
      0,
      bytes.findIndex((byte) => (byte & 0xc0) !== 0x80),
    );
  // In GB 18030 a line break is part of no other character.
  return encoding === "gb18030" ? bytes.indexOf(NEWLINE) + 1 : 0;
}
