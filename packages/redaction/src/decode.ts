/** A decoded text with the offsets of its characters in the original. */
export interface DecodedText {
  readonly text: string;
  /** The original offset of each character, and the length of the original at the end. */
  readonly offsets: readonly number[];
}

/** Invisible characters between others, and line breaks in long encoded lines. */
const INVISIBLE = /(?:\p{Cf}|\u034f|[\ufe00-\ufe0f])+|(?<=[A-Za-z0-9+/=_-]{32})\r?\n(?=[A-Za-z0-9+/=_-]{4})/u;
/** Escapes of a character: `%6B`, `\u006b`, `\u{6b}`, `\x6b`, `&#x6b;`, `=6B`, and `&#107;`. */
const HEX_ESCAPE =
  /%([0-9a-f]{2})|\\{1,4}u([0-9a-f]{4})|\\{1,4}u\{([0-9a-f]{1,5})\}|\\{1,4}x([0-9a-f]{2})|&#x([0-9a-f]{2,4});/;
const DECIMAL_ESCAPE = /&#(\d{2,5});/;
/** At least eight bytes in hexadecimal with separators, such as `73:6b:2d` and `0x73, 0x6b`. */
const BYTES = /(?<![0-9a-f])((?:(?:0x)?[0-9a-f]{2}(?:[:-]|[\s,]{1,2})){7,200}(?:0x)?[0-9a-f]{2})(?![0-9a-f])/;
const QUOTED_PRINTABLE = /((?:=[0-9A-F]{2}){4,})/;
const ESCAPE = new RegExp(
  [HEX_ESCAPE, DECIMAL_ESCAPE, BYTES, QUOTED_PRINTABLE, INVISIBLE].map(({ source }) => source).join("|"),
  "giu",
);
const BYTE = /(?:0x)?([0-9a-f]{2})/gi;

/** Decodes the escapes in a text. Returns `undefined` if it has none. */
export function decodeEscapes(text: string): DecodedText | undefined {
  let decoded = "";
  const offsets: number[] = [];
  let from = 0;
  const copy = (to: number): void => {
    decoded += text.slice(from, to);
    for (let at = from; at < to; at += 1) offsets.push(at);
  };
  const put = (code: number, at: number): void => {
    if (code > 0x10ffff) return;
    const character = String.fromCodePoint(code);
    decoded += character;
    for (let unit = 0; unit < character.length; unit += 1) offsets.push(at);
  };
  for (const groups of text.matchAll(ESCAPE)) {
    const { index, 0: escaped } = groups;
    copy(index);
    from = index + escaped.length;
    const digits = groups[1] ?? groups[2] ?? groups[3] ?? groups[4] ?? groups[5];
    if (digits !== undefined) put(Number.parseInt(digits, 16), index);
    else if (groups[6] !== undefined) put(Number(groups[6]), index);
    else if (groups[7] !== undefined || groups[8] !== undefined)
      for (const byte of escaped.matchAll(BYTE)) put(Number.parseInt(byte[1] ?? "", 16), index + byte.index);
  }
  if (from === 0) return undefined;
  copy(text.length);
  offsets.push(text.length);
  return { text: decoded, offsets };
}

/** Runs of at least 24 characters that may be base64 or hexadecimal. */
const ENCODED_RUN = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX = /^(?:[0-9a-f]{2})+$/i;
/** Number of characters to decode to determine whether a run encodes text. */
const PROBE_CHARS = 32;
/**
 * Maximum length of a run in characters. A longer one is not a credential, and decoding many of them would take long.
 */
const MAX_RUN_CHARS = 8_192;
const TEXT = /^[\t\n\r\x20-\x7e]+$/;

/** An encoded part of a text, with its decoded text. */
export interface EncodedRun {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Finds the parts of a text that encode printable ASCII in base64 or hexadecimal, at any alignment. */
export function findEncodedRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = [];
  for (const { 0: run, index } of text.matchAll(ENCODED_RUN)) {
    if (run.length > MAX_RUN_CHARS) continue;
    const decoded = decodeRun(run);
    if (decoded !== undefined) runs.push({ from: index, to: index + run.length, text: decoded });
  }
  return runs;
}

function decodeRun(run: string): string | undefined {
  if (HEX.test(run)) {
    const text = Buffer.from(run, "hex").toString("latin1");
    if (TEXT.test(text)) return text;
  }
  for (let shift = 0; shift < 4; shift += 1) {
    if (!TEXT.test(decodeBase64(run.slice(shift, shift + PROBE_CHARS)))) continue;
    const text = decodeBase64(run.slice(shift));
    // The end may not be part of the encoded text.
    return text.replace(/[^\t\n\r\x20-\x7e].*$/s, "");
  }
  return undefined;
}

function decodeBase64(run: string): string {
  return Buffer.from(run.slice(0, run.length - (run.length % 4 === 1 ? 1 : 0)), "base64").toString("latin1");
}
