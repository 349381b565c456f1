/** A value that survives a round trip through JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Maximum nesting. Deeper members are left unchanged. */
const MAX_DEPTH = 64;

/** Removes members that are `undefined`, as `JSON.stringify` does. Values from JavaScript code often contain some. */
export function dropUndefined(value: unknown): unknown {
  return dropAt(value, 0);
}

function dropAt(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => dropAt(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, dropAt(member, depth + 1)]));
}
