import { asRecord } from "./settings.ts";

/** Maximum length of a JSON text, in characters. */
const MAX_CHARS = 64_000_000;

/** Parses a JSON object. Anything else is an empty one. */
export function parseRecord(text: unknown): Readonly<Record<string, unknown>> {
  if (typeof text !== "string" || text.length > MAX_CHARS) return {};
  try {
    return asRecord(JSON.parse(text)) ?? {};
  } catch {
    return {};
  }
}
