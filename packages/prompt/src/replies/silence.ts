/** The whole of a reply that is not to be sent. */
export const SILENT_TOKEN = "__SILENT__";

/** Takes the silent token out of a text that arrives in pieces. */
export interface SilenceFilter {
  /** What may be shown now: nothing that may yet turn out to belong to a token. */
  push(delta: string): string;
  /** What was held back and is now known to be text. The filter is used up. */
  end(): string;
}

/** What models put around a token in place of writing it bare. */
const WRAPPING = /[\s`*_~"'“”‘’「」.。]/g;
/** Text longer than this is no token with wrapping around it. */
const MAX_WRAPPED = 200;

/**
 * A filter for one reply. The token counts where it is all that there is, whatever is wrapped around it, and where it
 * is a line of its own, the first or the last; anywhere else it is text that speaks of it. However the reply is cut
 * into pieces, what comes out, joined, is the same, without white space at both ends.
 */
export function createSilenceFilter(): SilenceFilter {
  let held = "";
  let started = false;
  /** What is held, as it stands in the reply: without a first line that is the token. */
  const textHeld = (): string => (started ? held : withoutFirstToken(held));

  return {
    push(delta) {
      held += delta;
      if (delta.trim() === "" || (!started && mayBeSilent(held))) return "";
      const text = textHeld();
      const ready = text.slice(0, endOfText(text, !started, "so far"));
      if (ready === "") return "";
      started = true;
      held = text.slice(ready.length);
      return ready;
    },
    end() {
      if (!started && isSilent(held)) return "";
      const text = textHeld();
      return text.slice(0, endOfText(text, !started, "at the end"));
    },
  };
}

/** The text without silent tokens, where they count, and without white space at both ends. */
export function stripSilence(text: string): string {
  const filter = createSilenceFilter();
  return filter.push(text) + filter.end();
}

function isSilent(text: string): boolean {
  return (
    text.length <= MAX_WRAPPED && text.includes(SILENT_TOKEN) && unwrapped(text) === unwrapped(SILENT_TOKEN)
  );
}

function mayBeSilent(start: string): boolean {
  return start.length <= MAX_WRAPPED && unwrapped(SILENT_TOKEN).startsWith(unwrapped(start));
}

function unwrapped(text: string): string {
  return text.replace(WRAPPING, "");
}

function withoutFirstToken(text: string): string {
  const body = text.trimStart();
  const lineEnd = body.indexOf("\n");
  return lineEnd >= 0 && body.slice(0, lineEnd).trimEnd() === SILENT_TOKEN
    ? body.slice(lineEnd).trimStart()
    : body;
}

/** Where a text ends that is not white space and not a last line that is the token or, so far, may become it. */
function endOfText(text: string, startsLine: boolean, when: "so far" | "at the end"): number {
  const end = text.trimEnd().length;
  const lineStart = text.lastIndexOf("\n", end - 1) + 1;
  const lastLine = text.slice(lineStart, end).trimStart();
  const isUnfinished = when === "so far" && !text.slice(end).includes("\n");
  const isToken = lastLine === SILENT_TOKEN || (isUnfinished && SILENT_TOKEN.startsWith(lastLine));
  return isToken && (lineStart > 0 || startsLine) ? text.slice(0, lineStart).trimEnd().length : end;
}
