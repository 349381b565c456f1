import type { Json } from "../contract/json.ts";

/** A JSON object of unknown shape, as it came over the wire. */
export type Payload = Readonly<Record<string, unknown>>;

export function isPayload(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON text as an object; undefined where it is not one. */
export function parsePayload(text: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPayload(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The object under `key`; empty if there is none. */
export function objectAt(payload: Payload, key: string): Payload {
  const value = payload[key];
  return isPayload(value) ? value : {};
}

/** The objects of the list under `key`. */
export function objectsAt(payload: Payload, key: string): readonly Payload[] {
  const value = payload[key];
  return Array.isArray(value) ? value.filter(isPayload) : [];
}

/** The text under `key`, with broken surrogate pairs repaired; undefined if there is none or it is empty. */
export function textAt(payload: Payload, key: string): string | undefined {
  const value = payload[key];
  return typeof value === "string" && value !== "" ? value.toWellFormed() : undefined;
}

/** No message is older than the first of these moments or from after the second. */
const plausible = { from: Date.UTC(2010, 0), to: Date.UTC(2100, 0) };

/**
 * The time under `key` in milliseconds since the epoch, written as text or number in seconds, milliseconds or
 * microseconds. Undefined for what cannot be one.
 */
export function timeAt(payload: Payload, key: string): number | undefined {
  const value = payload[key];
  const time = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  const ms = Math.round(time < 1e11 ? time * 1000 : time > 1e14 ? time / 1000 : time);
  return ms >= plausible.from && ms < plausible.to ? ms : undefined;
}

/** No platform nests deeper; what does is cut off. */
const deepest = 32;

/**
 * What of a value survives JSON; undefined for what does not. For `raw`, and for values that people put into buttons.
 */
export function toJson(value: unknown, depth = 0): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  if (depth >= deepest) return undefined;
  if (Array.isArray(value)) return value.map((inner: unknown) => toJson(inner, depth + 1) ?? null);
  if (!isPayload(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, toJson(inner, depth + 1) ?? null]),
  );
}
