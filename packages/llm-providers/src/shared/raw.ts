/** A JSON object whose shape nobody vouches for: what came off a wire. */
export type Raw = Readonly<Record<string, unknown>>;

/** Whether `value` is a plain JSON object. */
export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at `key`, or an empty one. */
export function objectAt(value: Raw, key: string): Raw {
  const found = value[key];
  return isRaw(found) ? found : {};
}

/** The objects in the array at `key`. */
export function objectsAt(value: Raw, key: string): readonly Raw[] {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isRaw) : [];
}

/** The string at `key`, where there is one that is not empty. */
export function textAt(value: Raw, key: string): string | undefined {
  const found = value[key];
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** A number of tokens: whole, not negative, exact. Nothing else that a wire may say is one. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && typeof value === "number" && value >= 0;
}

/** The number of tokens at `key`, where there is one. */
export function countAt(value: Raw, key: string): number | undefined {
  const found = value[key];
  return isCount(found) ? found : undefined;
}

/** The number at `key`, where there is one. */
export function numberAt(value: Raw, key: string): number | undefined {
  const found = value[key];
  return typeof found === "number" ? found : undefined;
}
