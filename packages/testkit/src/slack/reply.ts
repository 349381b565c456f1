import { isRaw, type Raw } from "../raw.ts";

/** The response to a call. */
export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of `body`. */
  readonly bytes?: Uint8Array;
}

export function ok(data: Raw = {}): ApiReply {
  return { status: 200, body: { ok: true, ...data } };
}

/** Returns an error in Slack's format: a code in the body, with HTTP 200. */
export function refuse(error: string, more: Raw = {}): ApiReply {
  return { status: 200, body: { ok: false, error, ...more } };
}

/** Returns HTTP 429, with a time if `retryAfter` is given. */
export function rateLimited(retryAfter: number | undefined): ApiReply {
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { status: 429, body: { ok: false, error: "ratelimited" }, headers };
}

/** Arguments that contain JSON if the call is a form. */
const structured: readonly string[] = ["blocks", "metadata", "files", "chunks", "view"];
const flags: readonly string[] = ["inclusive", "include_all_metadata"];

/** Parses a call's arguments from a form or JSON. */
export function readArguments(text: string, type: string): Raw {
  if (!type.startsWith("application/x-www-form-urlencoded")) return objectOf(text);
  const fields = [...new URLSearchParams(text)];
  return Object.fromEntries(fields.map(([name, value]) => [name, readField(name, value)]));
}

function readField(name: string, value: string): unknown {
  if (flags.includes(name)) return value === "true" || value === "1";
  if (!structured.includes(name)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function objectOf(text: string): Raw {
  try {
    const value: unknown = JSON.parse(text);
    return isRaw(value) ? value : {};
  } catch {
    return {};
  }
}

/** Returns a text argument, or `undefined` if it is missing or empty. */
export function textOf(args: Raw, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the objects in a list. */
export function objectsOf(value: unknown): readonly Raw[] {
  return Array.isArray(value) ? value.filter(isRaw) : [];
}
