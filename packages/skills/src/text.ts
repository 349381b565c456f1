import { createHash } from "node:crypto";

/** White space and control characters as single spaces, cut to a length in UTF-16 units. */
export function oneLine(text: string, maxLength: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not stay
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  if (line.length <= maxLength) return line;
  const cut = line.slice(0, maxLength - 1);
  // Half a surrogate pair must not stay at the end.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
