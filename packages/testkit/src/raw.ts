/** A JSON object of unknown shape. */
export type Raw = Record<string, unknown>;

/** Returns true if `value` is a plain JSON object. */
export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
