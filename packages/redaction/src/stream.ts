import { encodeSecret } from "./encodings.ts";

/** Removes known secrets from text that arrives in pieces, wherever it is split. */
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
  /** Returns whether the text after an offset is the beginning of a secret. */
  mayBeginAt(text: string, at: number): boolean;
}

/** Looks secrets up by their first character, so that most offsets need a single comparison. */
export function createSecretFinder(secrets: readonly string[]): SecretFinder {
  const byFirst = new Map<string, string[]>();
  for (const text of new Set(secrets.flatMap((secret) => [...encodeSecret(secret)]))) {
    const first = text.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), text]);
  }
  // The longest first, because one may begin with another.
  for (const texts of byFirst.values()) texts.sort((a, b) => b.length - a.length);
  const at = (text: string, place: number) => byFirst.get(text.charAt(place)) ?? [];
  return {
    lengthAt: (text, place) => at(text, place).find((each) => text.startsWith(each, place))?.length ?? 0,
    mayBeginAt(text, place) {
      const rest = text.length - place;
      return at(text, place).some((each) => each.length > rest && each.startsWith(text.slice(place)));
    },
  };
}

export function createRedactedStream(finder: SecretFinder, replacement: string): RedactedStream {
  let held = "";
  /** @param isComplete if set, no more text follows */
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
