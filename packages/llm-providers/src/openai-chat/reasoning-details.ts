import type { JsonObject } from "@signalbox/agent-core";

/**
 * Joins streamed pieces of `reasoning_details` into the entries the server wants back: pieces of one type and index
 * that follow each other become one, texts joined, other fields from the last piece that has them.
 */
export function mergeDetails(pieces: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    const isMore = last?.type === piece.type && last?.index === piece.index && piece.data === undefined;
    if (last !== undefined && isMore) merged[merged.length - 1] = joined(last, piece);
    else merged.push(piece);
  }
  return merged;
}

function joined(before: JsonObject, piece: JsonObject): JsonObject {
  const fields = Object.entries(piece).flatMap(([key, value]) => {
    if (value === null) return [];
    const said = before[key];
    const isText = (key === "text" || key === "summary") && typeof said === "string";
    return [[key, isText && typeof value === "string" ? said + value : value]];
  });
  return { ...before, ...Object.fromEntries(fields) };
}
