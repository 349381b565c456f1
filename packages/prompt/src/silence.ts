/** The whole of a reply that is not to be sent. */
export const SILENT_TOKEN = "__SILENT__";

/** Takes the silent token out of a text that arrives in pieces. */
export interface SilenceFilter {
  /** What may be shown now. It never holds the token nor anything that may yet turn out to be a part of it. */
  push(delta: string): string;
  /** What was held back and is now known to be text. The filter is used up. */
  end(): string;
}

/** For each length of a matched prefix of the token: the longest shorter prefix that ends there too. */
const FALLBACK: readonly number[] = prefixFunction(SILENT_TOKEN);

/**
 * A filter for one reply. However the text is cut into pieces, the pieces that come out, joined, are the text without
 * any silent token (also none that its removal would form) and without white space at both ends.
 */
export function createSilenceFilter(): SilenceFilter {
  // Characters not given out yet, each with how much of the token matches up to it. A character with 0 can never
  // become part of a token, so everything up to the last such one is free to go.
  let held: string[] = [];
  let matched: number[] = [];
  let free = 0;
  let started = false;
  let space = "";

  const emit = (text: string): string => {
    let visible = started ? space + text : text.trimStart();
    space = "";
    const trimmed = visible.trimEnd();
    if (trimmed === "") {
      if (started) space = visible;
      return "";
    }
    started = true;
    space = visible.slice(trimmed.length);
    visible = trimmed;
    return visible;
  };

  return {
    push(delta) {
      for (let i = 0; i < delta.length; i++) {
        const char = delta.charAt(i);
        const state = advance(matched.at(-1) ?? 0, char);
        held.push(char);
        matched.push(state);
        if (state === SILENT_TOKEN.length) {
          held.length -= SILENT_TOKEN.length;
          matched.length -= SILENT_TOKEN.length;
        } else if (state === 0) {
          free = held.length;
        }
      }
      const out = held.slice(0, free).join("");
      held = held.slice(free);
      matched = matched.slice(free);
      free = 0;
      return emit(out);
    },
    end() {
      const out = held.join("");
      held = [];
      matched = [];
      free = 0;
      return emit(out);
    },
  };
}

/** The text without silent tokens and without white space at both ends. */
export function stripSilence(text: string): string {
  const filter = createSilenceFilter();
  return filter.push(text) + filter.end();
}

function advance(state: number, char: string): number {
  let length = state;
  while (length > 0 && SILENT_TOKEN.charAt(length) !== char) length = FALLBACK[length - 1] ?? 0;
  return SILENT_TOKEN.charAt(length) === char ? length + 1 : 0;
}

function prefixFunction(pattern: string): number[] {
  const table = [0];
  for (let i = 1; i < pattern.length; i++) {
    let length = table[i - 1] ?? 0;
    while (length > 0 && pattern.charAt(length) !== pattern.charAt(i)) length = table[length - 1] ?? 0;
    table.push(pattern.charAt(length) === pattern.charAt(i) ? length + 1 : 0);
  }
  return table;
}
