import type { Redact } from "./redactor.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Redacts every string, number and key of a JSON value. Returns the same value if there is nothing to redact. */
export function redactJson<Value extends Json>(value: Value, redact: Redact): Json {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") {
    const text = String(value);
    const clean = redact(text);
    return clean === text ? value : clean;
  }
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const clean = items.map((item) => redactJson(item, redact));
    return clean.every((item, index) => item === items[index]) ? value : clean;
  }
  const entries = Object.entries(value);
  const clean = entries.map(
    ([key, item]) => [redact(key), item === undefined ? undefined : redactJson(item, redact)] as const,
  );
  const isClean = clean.every(
    ([key, item], index) => key === entries[index]?.[0] && item === entries[index]?.[1],
  );
  return isClean ? value : Object.fromEntries(clean);
}
