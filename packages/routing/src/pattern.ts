/** Whether a pattern stands for every account. */
export function isEveryAccount(pattern: string | undefined): boolean {
  return pattern === undefined || /^\*+$/.test(pattern);
}

/** Whether a pattern, in which `*` stands for any text, also the empty one, fits the whole of a text. */
export function fitsPattern(pattern: string | undefined, text: string): boolean {
  if (pattern === undefined) return true;
  if (!pattern.includes("*")) return pattern === text;
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/** Whether every text that `narrow` fits is one that `wide` fits. */
export function coversPattern(wide: string | undefined, narrow: string | undefined): boolean {
  if (isEveryAccount(wide)) return true;
  // A character that no account name holds stands for "any text": only a `*` of `wide` can take it.
  return fitsPattern(wide, (narrow ?? "*").replaceAll("*", "\uffff"));
}
