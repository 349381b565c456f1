import { isJsonObject, type JsonObject } from "@signalbox/agent-core";

/** Returns the object at `key`, or an empty one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const at = value[key];
  return isJsonObject(at) ? at : {};
}

export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  const at = value[key];
  return Array.isArray(at) ? at.filter(isJsonObject) : [];
}

/** Returns the string at `key` unless it is empty. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const at = value[key];
  return typeof at === "string" && at !== "" ? at : undefined;
}

/** Returns true for a token count: a safe integer that is not negative. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && typeof value === "number" && value >= 0;
}

export function countAt(value: JsonObject, key: string): number | undefined {
  const at = value[key];
  return isCount(at) ? at : undefined;
}

export function numberAt(value: JsonObject, key: string): number | undefined {
  const at = value[key];
  return typeof at === "number" ? at : undefined;
}

/** Looks up an untrusted key. Ignores inherited properties such as `constructor`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses the data of an event. Data that is not JSON is a keep-alive. Some proxies wrap an event in a list or send its
 * prefix twice.
 *
 * @throws SyntaxError if the JSON is malformed
 */
export function parseEvent(text: string): readonly JsonObject[] {
  const json = text.replace(/^(?:\s*data:)+/, "").trim();
  // Proxies end the streams of other vendors like OpenAI's.
  if (!/^[[{]/.test(json) || json === "[DONE]") return [];
  const value: unknown = JSON.parse(json);
  return [value].flat().filter(isJsonObject);
}

/** Drops fields that are `undefined`. */
export function withoutUndefined<T extends object>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> };
export function withoutUndefined(fields: object): object {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept;
}

/** Returns `undefined` for an empty list or object, and other values unchanged. */
export function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
