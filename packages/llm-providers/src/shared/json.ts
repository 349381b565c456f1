import { isJsonObject, type JsonObject } from "@signalbox/agent-core";

/** The object at `key`, or an empty one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const at = value[key];
  return isJsonObject(at) ? at : {};
}

export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  const at = value[key];
  return Array.isArray(at) ? at.filter(isJsonObject) : [];
}

/** The string at `key`, if there is one that is not empty. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const at = value[key];
  return typeof at === "string" && at !== "" ? at : undefined;
}

/** A number of tokens: whole, not negative, exact. Nothing else that a wire may say is one. */
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

/** A table's entry for a word from outside, but nothing that every object has by itself, such as `constructor`. */
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

/** The fields that have a value; for optional ones, which are left out rather than `undefined`. */
export function stated<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> };
export function stated(fields: object): object {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept;
}

/** A list or an object that holds something; for fields that are left out where there is nothing to say. */
export function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
