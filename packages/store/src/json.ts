import { StoreError } from "./errors.ts";

/**
 * Encodes a value as JSON at the time of the call, so later changes by the caller have no effect.
 *
 * @throws StoreError `invalid`
 */
export function encode(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new StoreError("invalid", `${what} cannot be stored as JSON.`, { cause });
  }
  if (text === undefined)
    throw new StoreError("invalid", `${what} cannot be stored as JSON: it is ${typeof value}.`);
  return text;
}

/** As {@link encode}; `undefined` and `null` become NULL. */
export function encodeOptional(value: unknown, what: string): string | null {
  return value === undefined || value === null ? null : encode(value, what);
}

/**
 * Decodes a text written by {@link encode}. The caller declares its type.
 *
 * @throws StoreError `corrupt` if the text is not valid JSON
 */
export function decode<T>(text: string, table: string, key: string | number): T {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StoreError("corrupt", `Row "${key}" of the table ${table} is damaged: restore a backup.`, {
      cause,
    });
  }
}

/** As {@link decode}, but returns undefined if the text is missing or not valid JSON. */
export function decodeIntact<T>(text: string | null | undefined): T | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
