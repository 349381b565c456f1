/** Encodings that are tried for files that are not UTF-8. The last one accepts anything. */
const FALLBACKS = ["gb18030", "windows-1252"] as const;

/** Decodes UTF-8, and UTF-16 with a byte-order mark. Other encodings are guessed, with a warning. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly warning?: string } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: decode("utf-16le", bytes) ?? "" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { text: decode("utf-16be", bytes) ?? "" };
  const utf8 = decode("utf-8", bytes);
  if (utf8 !== undefined) return { text: utf8 };
  for (const encoding of FALLBACKS) {
    const text = decode(encoding, bytes);
    if (text !== undefined) return { text, warning: `The file is not UTF-8. It was read as ${encoding}.` };
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
