/** A reply that consists of this token is not sent. */
export const SILENT_TOKEN = "__SILENT__";

/** Removes the silent token from a text that arrives in chunks. */
export interface SilenceFilter {
  /** Returns the text that can be shown now. Text that may still become a token is held back. */
  push(delta: string): string;
  /** Returns the held text once the reply is complete. The filter cannot be used again. */
  end(): string;
}

/** Characters that models put around a token. */
const WRAPPING = /[\s`*_~"'“”‘’「」.。]/g;
/** Maximum length of a silent token in quotes or Markdown, in UTF-16 units. */
const MAX_WRAPPED = 200;

/**
 * Creates a filter for one reply. The token takes effect if the reply consists of it, possibly in quotes or Markdown,
 * or if it is the first or last line. Anywhere else, it is text. The concatenated output does not depend on how the
 * reply is split and has no whitespace at either end.
 */
export function createSilenceFilter(): SilenceFilter {
  let held = "";
  let started = false;
  /** Returns the held text without a first line that is the token. */
  const getHeld = (): string => (started ? held : removeFirstToken(held));

  return {
    push(delta) {
      held += delta;
      if (delta.trim() === "" || (!started && mayBeSilent(held))) return "";
      const text = getHeld();
      const ready = text.slice(0, findEnd(text, !started, "so far"));
      if (ready === "") return "";
      started = true;
      held = text.slice(ready.length);
      return ready;
    },
    end() {
      if (!started && isSilent(held)) return "";
      const text = getHeld();
      return text.slice(0, findEnd(text, !started, "at the end"));
    },
  };
}

/** Removes silent tokens that take effect, and whitespace at both ends. */
export function stripSilence(text: string): string {
  const filter = createSilenceFilter();
  return filter.push(text) + filter.end();
}

function isSilent(text: string): boolean {
  return text.length <= MAX_WRAPPED && text.includes(SILENT_TOKEN) && unwrap(text) === unwrap(SILENT_TOKEN);
}

function mayBeSilent(start: string): boolean {
  return start.length <= MAX_WRAPPED && unwrap(SILENT_TOKEN).startsWith(unwrap(start));
}

function unwrap(text: string): string {
  return text.replace(WRAPPING, "");
}

function removeFirstToken(text: string): string {
  const body = text.trimStart();
  const lineEnd = body.indexOf("\n");
  return lineEnd >= 0 && body.slice(0, lineEnd).trimEnd() === SILENT_TOKEN
    ? body.slice(lineEnd).trimStart()
    : body;
}

/**
 * Returns the end index of the text without trailing whitespace and without a last line that is the token or may become
 * it.
 */
function findEnd(text: string, startsLine: boolean, when: "so far" | "at the end"): number {
  const end = text.trimEnd().length;
  const lineStart = text.lastIndexOf("\n", end - 1) + 1;
  const lastLine = text.slice(lineStart, end).trimStart();
  const isUnfinished = when === "so far" && !text.slice(end).includes("\n");
  const isToken = lastLine === SILENT_TOKEN || (isUnfinished && SILENT_TOKEN.startsWith(lastLine));
  return isToken && (lineStart > 0 || startsLine) ? text.slice(0, lineStart).trimEnd().length : end;
}
