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

/** What {@link encode} wrote; the caller says what it was. */
export function decode<T>(text: string): T {
  return JSON.parse(text);
}

/** The same; undefined where the text is gone or no JSON any more, as in a file that was damaged. */
export function decodeIntact<T>(text: string | null | undefined): T | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return decode<T>(text);
  } catch {
    return undefined;
  }
}
