import { StoreError } from "./errors.ts";

/** To JSON text, at the time of the call: what the caller changes later is not ours to see. */
export function encode(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new StoreError("invalid", `${what} cannot be kept as JSON.`, { cause });
  }
  if (text === undefined)
    throw new StoreError("invalid", `${what} cannot be kept as JSON: it is ${typeof value}.`);
  return text;
}

/** `undefined` and `null` become SQL's NULL. */
export function encodeOptional(value: unknown, what: string): string | null {
  return value === undefined || value === null ? null : encode(value, what);
}

/**
 * What {@link encode} wrote into a row; the caller says what it was.
 *
 * @throws StoreError `corrupt` where it is no JSON any more
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

/** The same, for what is left out where it is damaged: undefined where the text is gone or no JSON any more. */
export function decodeIntact<T>(text: string | null | undefined): T | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
