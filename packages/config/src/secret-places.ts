import type { ConfigPath } from "./problem.ts";

/** Keys of secrets anywhere in the file: `apiKey`, `token`, `appSecret`, `password`. */
const SECRET_KEY = /(?:key|token|secret|password|passphrase|credentials?)$/i;
/** Names of secrets among environment variables, command options and query parameters. */
const SECRET_NAME =
  /(?:key|token|secret|passwo?r?d|pass|pwd|passphrase|credentials?|auth|authorization|cookie|dsn|[_-]pat|sig|signature)$/i;
/** Headers without secrets. Any other may contain a key. */
const PLAIN_HEADERS = new Set([
  ...["accept", "accept-language", "anthropic-beta", "anthropic-version", "content-type", "http-referer"],
  ...["origin", "referer", "user-agent", "x-title"],
]);

/** Returns whether the value at a path is a secret. */
export function isSecretPlace(path: ConfigPath): boolean {
  const names = path.filter((step) => typeof step === "string");
  const last = names.at(-1) ?? "";
  // The URL of the database contains its password.
  if (names.length === 2 && names[0] === "store" && last === "url") return true;
  switch (names.at(-2)) {
    case "headers":
      return !PLAIN_HEADERS.has(last.toLowerCase());
    case "env":
      return isSkillVariable(names) || SECRET_NAME.test(last);
    default:
      return SECRET_KEY.test(last);
  }
}

/** Returns true if the value at a path is a secret or may contain one. */
export function isConfidential(path: ConfigPath): boolean {
  const last = path.at(-1);
  // A text in place of a mapping or list, such as `headers: "Authorization: …"`.
  if (last === "headers" || last === "env" || last === "args") return true;
  return isSecretPlace(path);
}

/** All environment variables of skills count as secrets, whatever their names. */
function isSkillVariable([section, setting]: readonly string[]): boolean {
  return section === "skills" && setting === "entries";
}

/** Finds the secrets in a value: by path, among command arguments, and in URLs. */
export function findSecrets(value: unknown, path: ConfigPath = []): string[] {
  if (typeof value === "string") {
    if (value === "") return [];
    const inUrl = findInUrl(value);
    return isConfidential(path) ? [value, ...splitHeader(value, path), ...inUrl] : inUrl;
  }
  if (Array.isArray(value)) {
    const named = path.at(-1) === "args" ? findInArguments(value) : [];
    return [...named, ...value.flatMap((item: unknown, index) => findSecrets(item, [...path, index]))];
  }
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, item]) => findSecrets(item, [...path, key]));
}

/** Returns a copy of a value in which secrets, and URLs with a password or key, are empty texts. */
export function withoutSecrets(value: unknown, path: ConfigPath = []): unknown {
  if (typeof value === "string") return findSecrets(value, path).length > 0 ? "" : value;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => withoutSecrets(item, [...path, index]));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withoutSecrets(item, [...path, key])]);
  return Object.fromEntries(entries);
}

/** Splits a header such as `Bearer abc`, because a vendor's error may quote only its last word. */
function splitHeader(value: string, path: ConfigPath): string[] {
  if (path.at(-2) !== "headers") return [];
  return value.split(/[\s;,]+/).filter((word) => word.length >= MIN_WORD_CHARS && word !== value);
}

const MIN_WORD_CHARS = 8;

/** Finds `abc` in `--token abc` and `--token=abc`. */
function findInArguments(args: readonly unknown[]): string[] {
  return args.flatMap((argument, index) => {
    const [, name = "", value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(String(argument)) ?? [];
    if (!SECRET_NAME.test(name)) return [];
    const given = value ?? args[index + 1];
    return typeof given === "string" && given !== "" ? [given] : [];
  });
}

/** Finds the password in `https://user:password@host`, and `abc` in `?key=abc`, both encoded and decoded. */
function findInUrl(text: string): string[] {
  const [, beforeQuery = ""] = /^([a-z][a-z0-9+.-]*:\/\/[^?#]*)/i.exec(text) ?? [];
  if (beforeQuery === "") return [];
  const password = /^[^/]*\/\/[^/?#\s@:]*:([^/?#\s@]+)@/.exec(beforeQuery)?.[1];
  const fields = /\?([^#]*)/.exec(text)?.[1]?.split("&") ?? [];
  const inQuery = fields.flatMap((field) => {
    const [name = "", written = ""] = field.split(/=(.*)/s);
    return SECRET_NAME.test(name) && written !== "" ? [...new Set([written, decodeQuery(written)])] : [];
  });
  return [...(password === undefined ? [] : [password]), ...inQuery];
}

/** Returns true if a text may contain a user's name and password before `@`, even if it is not a valid URL. */
export function mayContainPassword(text: string): boolean {
  return /:.+@/s.test(text);
}

function decodeQuery(written: string): string {
  try {
    return decodeURIComponent(written.replaceAll("+", " "));
  } catch {
    return written;
  }
}
