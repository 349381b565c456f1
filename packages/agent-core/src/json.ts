/** Any value that `JSON.stringify` writes. A property that is `undefined` is left out. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/**
 * Arrays and objects inside one another that a model's JSON may have. A parser takes any number of them; what walks the
 * value afterwards (a check, a store, a vendor's own parser) does not.
 */
export const MAX_JSON_DEPTH = 64;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` has more than `levels` arrays and objects inside one another. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}

/** Whether every text in `value`, keys included, is well-formed Unicode. Vendors refuse half a surrogate pair. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isJsonObject(value)) return true;
  // Every message is looked at: this makes no list of keys.
  for (const key in value) if (!key.isWellFormed() || !isWellFormed(value[key])) return false;
  return true;
}

/** The same with U+FFFD in place of each half of a surrogate pair; the same value where there is none. */
export function toWellFormed<T>(value: T): T;
export function toWellFormed(value: unknown): unknown {
  if (isWellFormed(value)) return value;
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item: unknown) => toWellFormed(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key.toWellFormed(), toWellFormed(item)]);
  // Not by assignment, which would take a key `__proto__` for the prototype.
  return Object.fromEntries(entries);
}

/** JSON with sorted keys, so that equal values have equal texts. `undefined` members are left out, as in JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // A null prototype, so that a key called `__proto__` is an ordinary key.
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) result[key] = sorted(Reflect.get(value, key));
  return result;
}
