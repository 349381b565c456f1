/** A JSON object of unknown shape, as it came over the wire. */
export type Raw = Readonly<Record<string, unknown>>;

export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object under `key`; empty where there is none. */
export function objectAt(value: Raw, key: string): Raw {
  const found = value[key];
  return isRaw(found) ? found : {};
}

/** The text under `key`, mended where a surrogate pair is broken; undefined where there is none or it is empty. */
export function textAt(value: Raw, key: string): string | undefined {
  const found = value[key];
  return typeof found === "string" && found !== "" ? found.toWellFormed() : undefined;
}

/** The objects of the list under `key`. */
export function objectsAt(value: Raw, key: string): readonly Raw[] {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isRaw) : [];
}

/** JSON text as an object; undefined where it is not one. */
export function parseObject(text: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRaw(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Feishu is younger than the first, and no message comes from after the second. */
const plausible = { from: Date.UTC(2015, 0), to: Date.UTC(2100, 0) };

/**
 * A time that Feishu writes as text in seconds, milliseconds or, in places, microseconds, in milliseconds. Undefined
 * for what cannot be one.
 */
export function timeAt(value: Raw, key: string): number | undefined {
  const found = value[key];
  const time = typeof found === "string" || typeof found === "number" ? Number(found) : Number.NaN;
  const ms = Math.round(time < 1e11 ? time * 1000 : time > 1e14 ? time / 1000 : time);
  return ms >= plausible.from && ms < plausible.to ? ms : undefined;
}
