import { encodingsOf } from "./encodings.ts";

/** A text that comes in pieces, without the secrets that are known, wherever it is cut. */
export interface RedactedStream {
  /** Returns what can be shown so far; what may be the start of a secret waits for what follows. */
  push(piece: string): string;
  /** Gives what is left. */
  end(): string;
}

/** Finds known secrets in texts that are still growing. */
export interface SecretFinder {
  /** The length of the longest secret at a place of a text; 0 where there is none. */
  lengthAt(text: string, at: number): number;
  /** Whether a text ends, from a place on, in the middle of what may become a secret. */
  mayBeginAt(text: string, at: number): boolean;
}

/** By their first letters, of which few are the same: most places of a text are passed over by one look. */
export function createSecretFinder(secrets: readonly string[]): SecretFinder {
  const byFirst = new Map<string, string[]>();
  for (const text of new Set(secrets.flatMap((secret) => [...encodingsOf(secret)]))) {
    const first = text.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), text]);
  }
  // The longest first: one may begin with another.
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
  /** @param isWhole whether nothing follows, so that nothing can become a secret any more */
  const take = (isWhole: boolean): string => {
    let shown = "";
    let from = 0;
    let place = 0;
    while (place < held.length) {
      if (!isWhole && finder.mayBeginAt(held, place)) break;
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
