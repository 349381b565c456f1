import { encodeSecret } from "./encodings.ts";

/** Removes known secrets from text that arrives in chunks, regardless of where it is split. */
export interface RedactedStream {
  /** Returns the text that can be shown. Text that may be the start of a secret is held back. */
  push(piece: string): string;
  /** Returns the rest. */
  end(): string;
}

/** Finds known secrets in a text that is still growing. */
export interface SecretFinder {
  /** Returns the length of the longest secret at an offset, or 0. */
  lengthAt(text: string, at: number): number;
  /** Returns true if the text after an offset is the beginning of a secret. */
  mayBeginAt(text: string, at: number): boolean;
}

/** Characters that are invisible between others: format characters, joiners and variation selectors. */
const INVISIBLE = /\p{Cf}|\u034f|[\ufe00-\ufe0f]/u;

/**
 * Maximum number of invisible characters between two characters of a secret. Without a limit, a text of invisible
 * characters would be held back as a whole and searched again with each piece.
 */
const MAX_INVISIBLE = 64;

/**
 * Looks up secrets by their first character, so that most offsets need a single comparison. Ignores case and invisible
 * characters.
 */
export function createSecretFinder(secrets: readonly string[]): SecretFinder {
  const byFirst = new Map<string, string[]>();
  const forms = secrets
    .flatMap((secret) => [...encodeSecret(secret)].map(fold))
    .filter((form) => form !== "");
  for (const text of new Set(forms)) {
    const first = text.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), text]);
  }
  // The longest first, because one secret may begin with another.
  for (const texts of byFirst.values()) texts.sort((a, b) => b.length - a.length);
  const at = (text: string, place: number) => byFirst.get(toLowerCase(text.charAt(place))) ?? [];
  return {
    lengthAt(text, place) {
      for (const form of at(text, place)) {
        const length = match(text, place, form);
        if (length !== "no" && length !== "cut off") return length;
      }
      return 0;
    },
    mayBeginAt: (text, place) => at(text, place).some((form) => match(text, place, form) === "cut off"),
  };
}

/** Returns the length of a folded secret at an offset of a text, or "cut off" if the text ends before the secret. */
function match(text: string, place: number, form: string): number | "no" | "cut off" {
  let at = place;
  for (let index = 0; index < form.length; index += 1) {
    const limit = at + MAX_INVISIBLE;
    while (index > 0 && at < text.length && INVISIBLE.test(text.charAt(at))) {
      if (at === limit) return "no";
      at += 1;
    }
    if (at >= text.length) return "cut off";
    if (toLowerCase(text.charAt(at)) !== form.charAt(index)) return "no";
    at += 1;
  }
  return at - place;
}

function fold(text: string): string {
  return [...text]
    .filter((character) => !INVISIBLE.test(character))
    .map(toLowerCase)
    .join("");
}

/** Lowercases only ASCII, so that the length stays the same. */
function toLowerCase(text: string): string {
  return text >= "A" && text <= "Z" ? text.toLowerCase() : text;
}

export function createRedactedStream(finder: SecretFinder, replacement: string): RedactedStream {
  let held = "";
  /** @param isComplete true after the last chunk of text */
  const take = (isComplete: boolean): string => {
    let shown = "";
    let from = 0;
    let place = 0;
    while (place < held.length) {
      if (!isComplete && finder.mayBeginAt(held, place)) break;
      const length = finder.lengthAt(held, place);
      if (length > 0) {
        shown += held.slice(from, place) + replacement;
        from = place + length;
      }
      place += Math.max(1, length);
    }
    shown += held.slice(from, place);
    held = held.slice(place);
    return shown;
  };
  return {
    push(piece) {
      held += piece;
      return take(false);
    },
    end: () => take(true),
  };
}
