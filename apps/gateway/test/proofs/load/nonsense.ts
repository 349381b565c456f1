import type { Random } from "../crash/random.ts";

/** What the payloads of a platform are made of, so that what is damaged looks like one. */
export interface Vocabulary {
  readonly names: readonly [string, ...string[]];
  readonly texts: readonly [string, ...string[]];
}

/** Replaces, removes, adds or cuts at one to four places. */
export function damaged(random: Random, event: unknown, words: Vocabulary): unknown {
  const copy: unknown = structuredClone(event);
  for (let times = random.int(1, 4); times > 0; times--) {
    const all = places(copy);
    const place = all[random.int(0, Math.max(0, all.length - 1))];
    if (place === undefined) continue;
    const { parent, key } = place;
    const old = parent[key];
    const how = random.int(0, 3);
    if (how === 0) delete parent[key];
    else if (how === 1) parent[random.pick(words.names)] = strange(random, 2, words);
    else if (how === 2 && typeof old === "string") parent[key] = old.slice(0, random.int(0, old.length));
    else parent[key] = strange(random, 3, words);
  }
  return copy;
}

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function places(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const parent: Record<string, unknown> = Object.assign(value);
  return Object.keys(parent).flatMap((key) => [{ parent, key }, ...places(parent[key])]);
}

const TEXTS = ["", "x", "\ud83d", "\u0000", "{}", "null", "-1", "NaN", "../../etc/passwd"] as const;
const NAMES = ["type", "id", "text", "__proto__", "constructor", "toString", ""] as const;

function strange(random: Random, depth: number, words: Vocabulary): unknown {
  switch (random.int(0, depth > 0 ? 8 : 5)) {
    case 0:
      return random.pick(random.chance(0.5) ? TEXTS : words.texts);
    case 1:
      return random.pick([0, -1, 1e308, 0.1, 2 ** 53, -0]);
    case 2:
      return random.pick([null, true, false]);
    case 3:
      return random.pick(["[", '"', "a", "\u{1f600}"]).repeat(random.int(1, 2_000));
    case 4:
      return [];
    case 5:
      return {};
    case 6:
      return Array.from({ length: random.int(1, 4) }, () => strange(random, depth - 1, words));
    case 7:
      return nested(random.int(10, 500));
    default:
      return Object.fromEntries([
        [random.pick(random.chance(0.5) ? NAMES : words.names), strange(random, depth - 1, words)],
      ]);
  }
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Anything at all, or what only begins like JSON. */
export function bytes(random: Random): Buffer {
  const made = Buffer.alloc(random.int(0, 400));
  for (let at = 0; at < made.length; at++) made[at] = random.int(0, 255);
  return random.chance(0.5)
    ? made
    : Buffer.concat([Buffer.from(random.pick(['{"encrypt":"', "{", "[[", "payload=%7B"])), made]);
}

/** Types of bodies, right and wrong ones, with some of the headers a platform signs with. */
export function anyHeaders(
  random: Random,
  signed: Readonly<Record<string, readonly [string, ...string[]]>>,
): Record<string, string> {
  const types = [
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "x",
  ] as const;
  const chosen = Object.entries(signed).flatMap(([name, values]): [string, string][] =>
    random.chance(0.5) ? [[name, random.pick(values)]] : [],
  );
  return {
    "content-type": random.pick(types),
    ...(random.chance(0.3) ? { "content-encoding": random.pick(["gzip", "br", "none"]) } : {}),
    ...Object.fromEntries(chosen),
  };
}
