import { createHash } from "node:crypto";

/** SHA-256 of the canonical JSON of a value, as hexadecimal digits. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

/** JSON with sorted keys, so that equal values have equal texts. `undefined` members are left out, as in JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // A null prototype, so that a key called `__proto__` is an ordinary key.
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    result[key] = sorted(member);
  }
  return result;
}
