import { findCredentials, type Span } from "./credentials.ts";
import { decodeEscapes } from "./decode.ts";
import { encodeSecret } from "./encodings.ts";
import {
  createRedactedStream,
  createSecretFinder,
  type RedactedStream,
  type SecretFinder,
} from "./stream.ts";

/**
 * Minimum length of a secret. A shorter one is redacted only as a separate word, because it can be part of many words.
 */
const MIN_SUBSTRING_CHARS = 6;
/**
 * Minimum length of a secret in streamed answers. A shorter one is not redacted, because it may be an ordinary word.
 */
const MIN_STREAM_CHARS = 12;
const REDACTED = "[redacted]";

/** Maximum number of cached texts without secrets. They are cached, because ids and keys recur in every message. */
const MAX_CACHED = 1_000;
const MAX_CACHED_CHARS = 200;

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/** A growing set of secrets, which it removes from texts. */
export interface Vault {
  /** Adds secrets, which are redacted from then on. */
  add(secrets: Iterable<string>): void;
  readonly redact: Redact;
  /**
   * Creates a redactor for text that arrives in chunks. It removes only known secrets of at least 12 characters,
   * because text that merely looks like a secret may be what the user asked for.
   */
  stream(): RedactedStream;
}

/**
 * Creates a vault that removes secrets in any common encoding, regardless of case, and text that looks like a secret,
 * even if it is encoded.
 */
export function createVault(secrets: Iterable<string> = []): Vault {
  const secretForms = new Set<string>();
  let patterns: readonly RegExp[] | undefined;
  let finder: SecretFinder | undefined;
  const clean = new Set<string>();
  const add = (more: Iterable<string>): void => {
    for (const secret of more) if (secret !== "") secretForms.add(secret);
    // Compiled on demand, because most secrets are added one after another.
    patterns = undefined;
    finder = undefined;
    clean.clear();
  };
  add(secrets);
  return {
    add,
    redact(text) {
      if (clean.has(text)) return text;
      patterns ??= createPatterns(secretForms);
      const withoutKnown = patterns.reduce((left, pattern) => left.replace(pattern, REDACTED), text);
      const redacted = withoutCredentials(withoutEscaped(withoutKnown, patterns));
      if (redacted === text && text.length <= MAX_CACHED_CHARS) {
        if (clean.size >= MAX_CACHED) clean.clear();
        clean.add(copyText(text));
      }
      return redacted;
    },
    stream() {
      finder ??= createSecretFinder([...secretForms].filter(({ length }) => length >= MIN_STREAM_CHARS));
      return createRedactedStream(finder, REDACTED);
    },
  };
}

/** Copies a text. V8 keeps a long string in memory for every slice of it. */
function copyText(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** Number of additional characters that redaction reads, to detect secrets that begin before the end. */
const LOOKAHEAD_CHARS = 4_096;

/**
 * Limits redaction to the beginning of a text, for long texts such as errors.
 *
 * @param maxChars length of the result in UTF-16 units
 */
export function redactBeginning(redact: Redact, maxChars: number): Redact {
  return (text) => {
    if (text.length <= maxChars) return redact(text);
    const redacted = redact(text.slice(0, maxChars + LOOKAHEAD_CHARS));
    // After the last replacement there may be part of a secret, which moved forward when earlier ones were replaced.
    const end = Math.max(redacted.lastIndexOf(REDACTED) + REDACTED.length, redacted.length - LOOKAHEAD_CHARS);
    return redacted.slice(0, text.length <= maxChars + LOOKAHEAD_CHARS ? maxChars : Math.min(maxChars, end));
  };
}

const MAX_ERROR_CHARS = 8_000;

/** Limits redaction to the first 8,000 characters, for errors that quote long inputs. */
export const redactErrors = (redact: Redact): Redact => redactBeginning(redact, MAX_ERROR_CHARS);

/**
 * Creates a function that removes a fixed set of secrets, and text that looks like a secret.
 *
 * @example
 * ```ts
 * const redact = createRedactor(["hunter2-secret"]);
 * redact("refused hunter2-secret"); // "refused [redacted]"
 * ```
 */
export function createRedactor(secrets: readonly string[]): Redact {
  return createVault(secrets).redact;
}

/**
 * Returns separate patterns for long and short secrets, because word boundaries in all languages make the latter
 * slower.
 */
function createPatterns(secrets: ReadonlySet<string>): RegExp[] {
  const long = [...secrets]
    .filter((secret) => secret.length >= MIN_SUBSTRING_CHARS)
    .flatMap((secret) => [...encodeSecret(secret)]);
  const short = [...secrets].filter((secret) => secret.length < MIN_SUBSTRING_CHARS);
  return [
    createPattern(long, (any) => new RegExp(any, "gi")),
    createPattern(short, createWordPattern),
  ].flat();
}

function createWordPattern(any: string): RegExp {
  return new RegExp(`(?:(?<![\\p{L}\\p{N}_])|(?<=\\\\[bfnrt]))(?:${any})(?![\\p{L}\\p{N}_])`, "gu");
}

/** Matches the longest secret first, because one may begin with another. */
function createPattern(texts: readonly string[], make: (any: string) => RegExp): RegExp[] {
  if (texts.length === 0) return [];
  const sorted = [...new Set(texts)].sort((a, b) => b.length - a.length);
  return [make(sorted.map(escapeRegExp).join("|"))];
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Removes known secrets whose characters are escaped or separated by invisible ones. */
function withoutEscaped(text: string, patterns: readonly RegExp[]): string {
  const decoded = patterns.length === 0 ? undefined : decodeEscapes(text);
  if (decoded === undefined) return text;
  const spans = patterns.flatMap((pattern) =>
    [...decoded.text.matchAll(pattern)].map(({ index, 0: found }): Span => {
      return [decoded.offsets[index] ?? 0, decoded.offsets[index + found.length] ?? text.length];
    }),
  );
  return removeSpans(text, spans);
}

function withoutCredentials(text: string): string {
  return removeSpans(
    text,
    findCredentials(text).filter(([from, to]) => text.slice(from, to) !== REDACTED),
  );
}

function removeSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let clean = "";
  let at = 0;
  for (const [from, to] of mergeSpans(spans)) {
    clean += text.slice(at, from) + REDACTED;
    at = to;
  }
  return clean + text.slice(at);
}

/** Sorts spans and merges overlapping ones. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from < last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}
