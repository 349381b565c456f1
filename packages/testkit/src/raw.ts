/** A JSON object of unknown shape, as a stand-in finds it in a request. */
export type Raw = Record<string, unknown>;

/** Whether `value` is a plain JSON object. */
export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
