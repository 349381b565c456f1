import { isUtf8 } from "node:buffer";

/** Encoding of a text file. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "gb18030";

/** Number of bytes at the start of a file that determine its encoding. */
export const SAMPLE_BYTES = 65_536;

/**
 * Detects the encoding of a text from the first bytes of its file. Returns undefined for binary data. UTF-16 is
 * detected by its byte order mark. Valid GB 18030 that is not valid UTF-8 counts as GB 18030.
 */
export function detectEncoding(sample: Uint8Array, isWhole: boolean): TextEncoding | undefined {
  if (sample[0] === 0xff && sample[1] === 0xfe) return "utf-16le";
  if (sample[0] === 0xfe && sample[1] === 0xff) return "utf-16be";
  if (sample.includes(0)) return undefined;
  if (isWhole ? isUtf8(sample) : canDecode("utf-8", sample, false)) return "utf-8";
  return canDecode("gb18030", sample, isWhole) && !hasOddControls(sample) ? "gb18030" : undefined;
}

function canDecode(encoding: TextEncoding, sample: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Returns true if the sample contains control characters that do not occur in text files. */
function hasOddControls(sample: Uint8Array): boolean {
  return sample.some(
    (byte) =>
      byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x0c && byte !== 0x1b,
  );
}

/** Formats a number, for example as `1,234`. */
export function formatCount(value: number): string {
  return value.toLocaleString("en-US");
}

/** Returns the first `max` UTF-16 units without splitting a surrogate pair. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** Replaces control characters in a file name, so that it stays on one line. */
export function escapeName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: replaces control characters
  return name.replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, "�");
}
