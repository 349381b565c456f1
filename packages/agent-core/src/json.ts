/** Any value that survives a JSON round trip. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Arrays and objects inside one another that a model's JSON may have. A parser takes any number of them; what walks the
 * value afterwards (a check, a store, a vendor's own parser) does not.
 */
export const MAX_DEPTH = 64;

/** Whether `value` has more than `levels` arrays and objects inside one another. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Object.values(value)) if (isDeeperThan(item, levels - 1)) return true;
  return false;
}
