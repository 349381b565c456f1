/** Encodings that files without a mark are in, as far as they can be told apart; the last one takes anything. */
const GUESSES = ["gb18030", "windows-1252"] as const;

/** A text in the encoding it is in: UTF-8, or UTF-16 with its mark, or else what it can be read as, with a warning. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly warning?: string } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: decode("utf-16le", bytes) ?? "" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { text: decode("utf-16be", bytes) ?? "" };
  const utf8 = decode("utf-8", bytes);
  if (utf8 !== undefined) return { text: utf8 };
  for (const encoding of GUESSES) {
    const text = decode(encoding, bytes);
    if (text !== undefined) return { text, warning: `It is not UTF-8 text, and was read as ${encoding}.` };
  }
  return { text: "" };
}

function decode(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: encoding !== "windows-1252" }).decode(bytes);
  } catch {
    return undefined;
  }
}
