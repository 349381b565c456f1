import { credentialSpans, type Span } from "./credentials.ts";
import { encodingsOf } from "./encodings.ts";
import {
  createRedactedStream,
  createSecretFinder,
  type RedactedStream,
  type SecretFinder,
} from "./stream.ts";

/** Characters below which a secret is taken out only where it stands by itself: it may be part of many words. */
const SHORT = 6;
/** Characters below which a secret is left in what is said: it may be a word, and people would miss it. */
const SHORT_IN_SPEECH = 12;
const REDACTED = "[redacted]";

/** Texts in which nothing was found are kept, to be looked through once: ids and keys come again with every message. */
const KEPT_TEXTS = 1_000;
/** Of one, in UTF-16 units. */
const LONGEST_KEPT = 200;

/** A text without the secrets in it. */
export type Redact = (text: string) => string;

/** Knows secrets, and takes them out of texts. */
export interface Vault {
  /** Texts are redacted of these too from now on. */
  add(secrets: Iterable<string>): void;
  readonly redact: Redact;
  /**
   * For a text that is said bit by bit: takes out known secrets alone, of twelve characters and more, since what merely
   * looks like one may be what was asked for.
   */
  stream(): RedactedStream;
}

/** Replaces the given secrets, however they are encoded, and text that looks like one. */
export function createVault(secrets: Iterable<string> = []): Vault {
  const secretForms = new Set<string>();
  let patterns: readonly RegExp[] | undefined;
  let finder: SecretFinder | undefined;
  const clean = new Set<string>();
  const add = (more: Iterable<string>): void => {
    for (const secret of more) if (secret !== "") secretForms.add(secret);
    // Made when it is needed: most are added one after the other.
    patterns = undefined;
    finder = undefined;
    clean.clear();
  };
  add(secrets);
  return {
    add,
    redact(text) {
      if (clean.has(text)) return text;
      patterns ??= patternsOf(secretForms);
      const unknown = patterns.reduce((left, pattern) => left.replace(pattern, REDACTED), text);
      const redacted = withoutCredentials(unknown);
      if (redacted === text && text.length <= LONGEST_KEPT) {
        if (clean.size >= KEPT_TEXTS) clean.clear();
        clean.add(copyOf(text));
      }
      return redacted;
    },
    stream() {
      finder ??= createSecretFinder([...secretForms].filter(({ length }) => length >= SHORT_IN_SPEECH));
      return createRedactedStream(finder, REDACTED);
    },
  };
}

/** A piece of a long text would hold all of it. */
function copyOf(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** A secret that begins within the part that is kept is seen whole, as long as it is no longer than this. */
const BEYOND = 4_096;

/**
 * For texts of any length of which the beginning says enough, such as errors: takes no longer than the beginning needs.
 */
export function redactBeginning(redact: Redact, most: number): Redact {
  return (text) => {
    if (text.length <= most) return redact(text);
    const redacted = redact(text.slice(0, most + BEYOND));
    // Behind what was taken out last there may be half a secret, which moved up as others before it were taken out.
    const end = Math.max(redacted.lastIndexOf(REDACTED) + REDACTED.length, redacted.length - BEYOND);
    return redacted.slice(0, text.length <= most + BEYOND ? most : Math.min(most, end));
  };
}

/** Of an error, in UTF-16 units: the beginning says what it was. */
const LONGEST_ERROR = 8_000;

/** For the texts of errors, which quote what they were given. */
export const redactErrors = (redact: Redact): Redact => redactBeginning(redact, LONGEST_ERROR);

/** As {@link createVault}, for secrets that are all known. */
export function createRedactor(secrets: readonly string[]): Redact {
  return createVault(secrets).redact;
}

/** Two patterns, since only that of the short ones needs to know letters of all languages, and is slower for it. */
function patternsOf(secrets: ReadonlySet<string>): RegExp[] {
  const long = [...secrets]
    .filter((secret) => secret.length >= SHORT)
    .flatMap((secret) => [...encodingsOf(secret)]);
  const short = [...secrets].filter((secret) => secret.length < SHORT);
  return [patternOf(long, (any) => new RegExp(any, "g")), patternOf(short, standingAlone)].flat();
}

function standingAlone(any: string): RegExp {
  return new RegExp(`(?:(?<![\\p{L}\\p{N}_])|(?<=\\\\[bfnrt]))(?:${any})(?![\\p{L}\\p{N}_])`, "gu");
}

/** The longest first: one may begin with another. */
function patternOf(texts: readonly string[], make: (any: string) => RegExp): RegExp[] {
  if (texts.length === 0) return [];
  const sorted = [...new Set(texts)].sort((a, b) => b.length - a.length);
  return [make(sorted.map(escaped).join("|"))];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function withoutCredentials(text: string): string {
  const spans = credentialSpans(text).filter(([from, to]) => text.slice(from, to) !== REDACTED);
  if (spans.length === 0) return text;
  let clean = "";
  let at = 0;
  for (const [from, to] of joined(spans)) {
    clean += text.slice(at, from) + REDACTED;
    at = to;
  }
  return clean + text.slice(at);
}

/** In order, those that overlap as one. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from < last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}
