import { isRaw, type Raw } from "../raw.ts";

/** What the stand-in answers to one call. */
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

/** Slack's error form: a word in the body, with HTTP 200. */
export function refuse(error: string, more: Raw = {}): ApiReply {
  return { status: 200, body: { ok: false, error, ...more } };
}

/** HTTP 429; without a time where `retryAfter` is left out. */
export function rateLimited(retryAfter: number | undefined): ApiReply {
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { status: 429, body: { ok: false, error: "ratelimited" }, headers };
}

/** Arguments that are JSON text where a call is a form. */
const structured: readonly string[] = ["blocks", "metadata", "files", "chunks", "view"];
const flags: readonly string[] = ["inclusive", "include_all_metadata"];

/** The arguments of a call: fields of a form, or JSON. */
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

/** A text argument; undefined where it is missing or empty. */
export function textOf(args: Raw, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The objects of a list. */
export function objectsOf(value: unknown): readonly Raw[] {
  return Array.isArray(value) ? value.filter(isRaw) : [];
}
