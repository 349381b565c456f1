/**
 * A copy in which nothing can be changed, so that a hook changes neither what
 * the host goes on with nor what others see.
 */
export function frozenCopy<T>(value: T): T {
  const copy = structuredClone(value);
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  // The bytes of a view cannot be frozen; they are a copy all the same.
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return;
  for (const item of Object.values(value)) freeze(item);
  Object.freeze(value);
}
