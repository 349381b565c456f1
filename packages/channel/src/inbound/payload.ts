import type { Json } from "../contract/json.ts";

/** A JSON object of unknown shape, received from a platform. */
export type Payload = Readonly<Record<string, unknown>>;

export function isPayload(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a JSON object. Returns `undefined` if the text is not one. */
export function parsePayload(text: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPayload(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the object at `key`, or an empty object. */
export function objectAt(payload: Payload, key: string): Payload {
  const value = payload[key];
  return isPayload(value) ? value : {};
}

/** Returns the objects in the array at `key`. */
export function objectsAt(payload: Payload, key: string): readonly Payload[] {
  const value = payload[key];
  return Array.isArray(value) ? value.filter(isPayload) : [];
}

/** Returns the text at `key` with lone surrogates replaced, or `undefined` if it is missing or empty. */
export function textAt(payload: Payload, key: string): string | undefined {
  const value = payload[key];
  return typeof value === "string" && value !== "" ? value.toWellFormed() : undefined;
}

/** The range of plausible times. */
const PLAUSIBLE = { from: Date.UTC(2010, 0), to: Date.UTC(2100, 0) };

/**
 * Returns the time at `key` in milliseconds since the epoch. The value may be a string or a number, in seconds,
 * milliseconds or microseconds. Returns `undefined` for an implausible value.
 */
export function timeAt(payload: Payload, key: string): number | undefined {
  const value = payload[key];
  const time = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  const ms = Math.round(time < 1e11 ? time * 1000 : time > 1e14 ? time / 1000 : time);
  return ms >= PLAUSIBLE.from && ms < PLAUSIBLE.to ? ms : undefined;
}

/** Maximum nesting. Deeper values are dropped. */
const MAX_DEPTH = 32;

/** Drops the parts of a value that JSON cannot represent. Returns `undefined` if nothing remains. */
export function toJson(value: unknown, depth = 0): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  if (depth >= MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((inner: unknown) => toJson(inner, depth + 1) ?? null);
  if (!isPayload(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, toJson(inner, depth + 1) ?? null]),
  );
}
