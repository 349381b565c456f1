import type { Json } from "../contract/json.ts";

const VALUES: readonly Json[] = [
  ...[null, true, 0, -1, 1e308, "", "x", "\ud83d", "\r\n", "../../etc/passwd", "1767225599123", "{}"],
  ...["[".repeat(500), [], {}, [[]], [null], { id: 0 }, nest(200)],
];
const NAMES: readonly string[] = [
  "id",
  "type",
  "text",
  "content",
  "__proto__",
  "constructor",
  "toString",
  "",
];

/**
 * Damages a payload in one to four positions: values are replaced, removed, added or truncated. For fuzz tests. Equal
 * random numbers cause equal damage.
 *
 * @param random returns numbers from 0 (inclusive) to 1 (exclusive)
 */
export function damage(payload: Json, random: () => number): Json {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const copy: Json = structuredClone(payload);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times -= 1) {
    const place = pick(findPlaces(copy));
    if (place === undefined) break;
    const { holder, key } = place;
    const before = holder[key];
    const value = structuredClone(pick(VALUES)) ?? null;
    const how = random();
    if (how < 0.25) delete holder[key];
    else if (how < 0.4) holder[pick(NAMES) ?? "id"] = value;
    else if (how < 0.6 && typeof before === "string")
      holder[key] = before.slice(0, Math.floor(random() * (before.length + 1)));
    else holder[key] = value;
  }
  return copy;
}

interface Place {
  readonly holder: Record<string, Json>;
  readonly key: string;
}

function findPlaces(value: Json | undefined): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder: Record<string, Json> = Object.assign(value);
  return Object.keys(value).flatMap((key) => [{ holder, key }, ...findPlaces(holder[key])]);
}

function nest(depth: number): Json {
  return Array.from({ length: depth }).reduce<Json>(
    (inner, _, level) => (level % 2 ? [inner] : { a: inner }),
    [],
  );
}
