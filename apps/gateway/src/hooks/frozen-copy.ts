/** Returns a deeply frozen copy, so that a hook cannot change data that belongs to the host or to other hooks. */
export function frozenCopy<T>(value: T): T {
  const copy = structuredClone(value);
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  // Typed arrays cannot be frozen, but they are copied.
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return;
  for (const item of Object.values(value)) freeze(item);
  Object.freeze(value);
}
