import type { Redact } from "./redactor.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Redacts every string of a JSON value, but no keys. Returns the same value if there is nothing to redact. */
export function redactJson<Value extends Json>(value: Value, redact: Redact): Json {
  if (typeof value === "string") return redact(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const clean = items.map((item) => redactJson(item, redact));
    return clean.every((item, index) => item === items[index]) ? value : clean;
  }
  const entries = Object.entries(value);
  const clean = entries.map(
    ([key, item]) => [key, item === undefined ? undefined : redactJson(item, redact)] as const,
  );
  return clean.every(([, item], index) => item === entries[index]?.[1]) ? value : Object.fromEntries(clean);
}
