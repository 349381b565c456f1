import type { ConfigPath } from "./problem.ts";

/** Keys whose values are secret, wherever they stand: `apiKey`, `token`, `appSecret`, `password`. */
const SECRET_KEY = /(?:key|token|secret|password|passphrase|credentials?)$/i;
/** The same of what a program is given: variables, options of a command, fields of an address. */
const SECRET_NAME =
  /(?:key|token|secret|passwo?r?d|pass|pwd|passphrase|credentials?|auth|authorization|cookie|dsn|[_-]pat|sig|signature)$/i;
/** Headers that say nothing secret. Any other may hold a key. */
const PLAIN_HEADERS = new Set([
  ...["accept", "accept-language", "anthropic-beta", "anthropic-version", "content-type", "http-referer"],
  ...["origin", "referer", "user-agent", "x-title"],
]);

/** Whether what stands in this place of a configuration is secret. */
export function isSecretPlace(path: ConfigPath): boolean {
  const names = path.filter((step) => typeof step === "string");
  const last = names.at(-1) ?? "";
  switch (names.at(-2)) {
    case "headers":
      return !PLAIN_HEADERS.has(last.toLowerCase());
    case "env":
      return isOfSkill(names) || SECRET_NAME.test(last);
    default:
      return SECRET_KEY.test(last);
  }
}

/** Skills are given variables to reach services with, under whatever names those have. */
function isOfSkill([section, setting]: readonly string[]): boolean {
  return section === "skills" && setting === "entries";
}

/** The secrets of a value by their places, those that arguments name, and those in its addresses. */
export function secretsIn(value: unknown, path: ConfigPath = []): string[] {
  if (typeof value === "string") {
    if (value === "") return [];
    return isSecretPlace(path) ? [value, ...wordsOf(value, path)] : inAddress(value);
  }
  if (Array.isArray(value)) {
    const named = path.at(-1) === "args" ? inArguments(value) : [];
    return [...named, ...value.flatMap((item: unknown, index) => secretsIn(item, [...path, index]))];
  }
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, item]) => secretsIn(item, [...path, key]));
}

/** A vendor's error may quote of `Authorization: Bearer abc` the last word alone. */
function wordsOf(value: string, path: ConfigPath): string[] {
  if (path.at(-2) !== "headers") return [];
  return value.split(/[\s;,]+/).filter((word) => word.length >= SHORTEST_WORD && word !== value);
}

const SHORTEST_WORD = 8;

/** Of `--token abc` and `--token=abc` the last part. */
function inArguments(args: readonly unknown[]): string[] {
  return args.flatMap((argument, index) => {
    const [, name = "", value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(String(argument)) ?? [];
    if (!SECRET_NAME.test(name)) return [];
    const given = value ?? args[index + 1];
    return typeof given === "string" && given !== "" ? [given] : [];
  });
}

/** The password of `https://user:password@host`, and what `?key=abc` says, as it is written and as it is meant. */
function inAddress(text: string): string[] {
  const [, beforeQuery = ""] = /^([a-z][a-z0-9+.-]*:\/\/[^?#]*)/i.exec(text) ?? [];
  if (beforeQuery === "") return [];
  const password = /^[^/]*\/\/[^/?#\s@:]*:([^/?#\s@]+)@/.exec(beforeQuery)?.[1];
  const fields = /\?([^#]*)/.exec(text)?.[1]?.split("&") ?? [];
  const inQuery = fields.flatMap((field) => {
    const [name = "", written = ""] = field.split(/=(.*)/s);
    return SECRET_NAME.test(name) && written !== "" ? [...new Set([written, meant(written)])] : [];
  });
  return [...(password === undefined ? [] : [password]), ...inQuery];
}

function meant(written: string): string {
  try {
    return decodeURIComponent(written.replaceAll("+", " "));
  } catch {
    return written;
  }
}
