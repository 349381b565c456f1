import type { Redact } from "./redactor.ts";

/** A value of JSON. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The same value with every text in it redacted, and itself where that changes nothing. Keys stay as they are. */
export function redactJson<Value extends Json>(value: Value, redact: Redact): Json {
  if (typeof value === "string") return redact(value);
  if (value === null || typeof value !== "object") return value;
  const isClean = (item: Json): boolean => redactJson(item, redact) === item;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    return items.every(isClean) ? value : items.map((item) => redactJson(item, redact));
  }
  if (Object.values(value).every(isClean)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactJson(item, redact)]));
}
