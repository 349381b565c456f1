import { createHash } from "node:crypto";

/** Maximum length of a command's description on Discord. */
export const MAX_COMMAND_DESCRIPTION = 100;

/** Replaces white space and control characters by single spaces, and shortens a text to UTF-16 units. */
export function oneLine(text: string, maxLength: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  if (line.length <= maxLength) return line;
  const cut = line.slice(0, maxLength - 1);
  // The cut may have split a surrogate pair.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Returns the SHA-256 in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
