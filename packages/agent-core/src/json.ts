/** Any value that `JSON.stringify` can write. Properties that are `undefined` are omitted. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/**
 * Maximum nesting of arrays and objects in JSON from a model. Parsers accept any depth, but code that walks the value
 * later (validation, storage, a vendor's parser) may not.
 */
export const MAX_JSON_DEPTH = 64;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if arrays and objects in `value` are nested more than `levels` deep. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}

/** Returns true if all strings in `value`, including keys, are well-formed Unicode. Vendors reject lone surrogates. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isJsonObject(value)) return true;
  // Iterates without allocating a list of keys, because every message passes through here.
  for (const key in value) if (!key.isWellFormed() || !isWellFormed(value[key])) return false;
  return true;
}

/** Replaces lone surrogates with U+FFFD. Returns the same value if there are none. */
export function toWellFormed<T>(value: T): T;
export function toWellFormed(value: unknown): unknown {
  if (isWellFormed(value)) return value;
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item: unknown) => toWellFormed(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key.toWellFormed(), toWellFormed(item)]);
  // Assigning the key `__proto__` would set the prototype.
  return Object.fromEntries(entries);
}

/** Serializes JSON with sorted keys, so that equal values yield equal strings. Omits `undefined` members, like JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // With a null prototype, `__proto__` is an ordinary key.
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) result[key] = sorted(Reflect.get(value, key));
  return result;
}
