import { StoreError } from "./errors.ts";

/**
 * Encodes a value as JSON immediately, so that later changes by the caller have no effect.
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

/** Like {@link encode}, but converts `undefined` and `null` to NULL. */
export function encodeOptional(value: unknown, what: string): string | null {
  return value === undefined || value === null ? null : encode(value, what);
}

/**
 * Decodes a string that {@link encode} returned. The caller declares its type.
 *
 * @throws StoreError `corrupt` if the string is not valid JSON
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

/** Like {@link decode}, but returns undefined if the string is missing or not valid JSON. */
export function decodeIntact<T>(text: string | null | undefined): T | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Copies a payload through JSON, so that later changes by the caller have no effect. */
export function copied<Payload>(payload: Payload): Payload {
  return JSON.parse(encode(payload, "The payload of a changed message"));
}
