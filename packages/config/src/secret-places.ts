import type { ConfigPath } from "./problem.ts";

/** Keys whose values are secret, wherever they stand: `apiKey`, `token`, `appSecret`, `password`. */
const SECRET_KEY = /(key|token|secret|password|passphrase|credentials?)$/i;
/** Headers that say nothing secret. Any other may hold a key. */
const PLAIN_HEADERS = new Set([
  ...["accept", "accept-language", "anthropic-beta", "anthropic-version", "content-type", "http-referer"],
  ...["origin", "referer", "user-agent", "x-title"],
]);

/** Whether what stands in this place of a configuration is secret. */
export function isSecretPlace(path: ConfigPath): boolean {
  const names = path.filter((step) => typeof step === "string");
  const last = names.at(-1) ?? "";
  return names.at(-2) === "headers" ? !PLAIN_HEADERS.has(last.toLowerCase()) : SECRET_KEY.test(last);
}

/** The secrets of a value by their places, and the passwords in its addresses. */
export function secretsIn(value: unknown, path: ConfigPath = []): string[] {
  if (typeof value === "string") {
    if (value === "") return [];
    return isSecretPlace(path) ? [value, ...wordsOf(value, path)] : passwordIn(value);
  }
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => secretsIn(item, [...path, index]));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, item]) => secretsIn(item, [...path, key]));
}

/** A vendor's error may quote of `Authorization: Bearer abc` the last word alone. */
function wordsOf(value: string, path: ConfigPath): string[] {
  if (path.at(-2) !== "headers") return [];
  return value.split(/[\s;,]+/).filter((word) => word.length >= SHORTEST_WORD && word !== value);
}

const SHORTEST_WORD = 8;

/** The password of `https://user:password@host`. */
function passwordIn(text: string): string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@:]*:([^/?#\s@]+)@/i.exec(text)?.[1];
  return password === undefined ? [] : [password];
}
