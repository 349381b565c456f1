import { isUtf8 } from "node:buffer";

/** How the bytes of a text file are to be read. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "gb18030";

/** Bytes of the start of a file that decide about it. */
export const SAMPLE_BYTES = 65_536;

/**
 * The encoding of a text by the start of its file, or `undefined` for what is not text. UTF-16 is known by its mark;
 * what is not UTF-8 but valid GB 18030 is taken for that.
 */
export function detectEncoding(sample: Uint8Array, isWhole: boolean): TextEncoding | undefined {
  if (sample[0] === 0xff && sample[1] === 0xfe) return "utf-16le";
  if (sample[0] === 0xfe && sample[1] === 0xff) return "utf-16be";
  if (sample.includes(0)) return undefined;
  if (isWhole ? isUtf8(sample) : decodes("utf-8", sample, false)) return "utf-8";
  return decodes("gb18030", sample, isWhole) && !hasOddControls(sample) ? "gb18030" : undefined;
}

function decodes(encoding: TextEncoding, sample: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Control characters that text files do not hold. */
function hasOddControls(sample: Uint8Array): boolean {
  return sample.some(
    (byte) =>
      byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x0c && byte !== 0x1b,
  );
}

/** `1,234`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** The first `max` UTF-16 units, never half a character. */
export function cutWell(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** A name must not look like several lines. */
export function visibleName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is made visible
  return name.replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, "�");
}
