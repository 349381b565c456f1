import { type JsonObject, toWellFormed } from "@signalbox/agent-core";

/** A JSON object of unknown shape, as it came off the wire. */
export type Raw = Readonly<Record<string, unknown>>;

export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at `key`, or an empty one. */
export function objectAt(value: Raw, key: string): Raw {
  const at = value[key];
  return isRaw(at) ? at : {};
}

export function objectsAt(value: Raw, key: string): readonly Raw[] {
  const at = value[key];
  return Array.isArray(at) ? at.filter(isRaw) : [];
}

/** The string at `key`, if there is one that is not empty. */
export function textAt(value: Raw, key: string): string | undefined {
  const at = value[key];
  return typeof at === "string" && at !== "" ? at : undefined;
}

/** A number of tokens: whole, not negative, exact. Nothing else that a wire may say is one. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && typeof value === "number" && value >= 0;
}

export function countAt(value: Raw, key: string): number | undefined {
  const at = value[key];
  return isCount(at) ? at : undefined;
}

export function numberAt(value: Raw, key: string): number | undefined {
  const at = value[key];
  return typeof at === "number" ? at : undefined;
}

/** A table's entry for a word from outside, but nothing that every object has by itself, such as `constructor`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

export function parseRaw(text: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRaw(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What came off the wire, as a copy that may be kept: well-formed, and without what is no JSON. */
export function keepJson(value: Raw): JsonObject {
  const kept: JsonObject = JSON.parse(JSON.stringify(value));
  return toWellFormed(kept);
}

/** The fields that have a value; for optional ones, which are left out rather than `undefined`. */
export function stated<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> };
export function stated(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A list or an object that holds something; for fields that are left out where there is nothing to say. */
export function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
