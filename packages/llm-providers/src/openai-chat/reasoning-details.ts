import type { Raw } from "../shared/json.ts";

/**
 * Joins streamed pieces of `reasoning_details` into the entries the server wants back: pieces of one type and index
 * that follow each other become one, texts joined, other fields from the last piece that has them.
 */
export function mergeDetails(pieces: readonly Raw[]): Raw[] {
  const merged: Record<string, unknown>[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    const same =
      last !== undefined &&
      last.type === piece.type &&
      last.index === piece.index &&
      piece.data === undefined;
    if (!same) {
      merged.push({ ...piece });
      continue;
    }
    for (const [key, value] of Object.entries(piece)) {
      if (key === "__proto__") continue;
      const before = last[key];
      const joins =
        (key === "text" || key === "summary") && typeof before === "string" && typeof value === "string";
      if (joins) last[key] = before + value;
      else if (value !== null && value !== undefined) last[key] = value;
    }
  }
  return merged;
}
