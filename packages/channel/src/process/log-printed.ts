import type { Readable } from "node:stream";
import type { ChannelContext } from "../contract/definition.ts";

/** The longest entry, in characters. */
const MAX_CHARS = 4_000;
/** Of one process: what it prints without end must not push everything else out of the log. */
const ENTRIES_A_MINUTE = 60;
const MINUTE_MS = 60_000;

/**
 * Logs what a process prints, as the rest of what its account has to say: secrets are taken out there. What comes
 * at once is one entry, so that a stack, or a key of several lines, is seen as a whole.
 */
export function logPrinted(
  streams: readonly Readable[],
  { logger, clock }: Pick<ChannelContext, "logger" | "clock">,
): void {
  let minute = 0;
  let entries = 0;
  const log = (printed: string): void => {
    const now = Math.floor(clock.now() / MINUTE_MS);
    if (now !== minute) entries = 0;
    minute = now;
    entries += 1;
    if (entries <= ENTRIES_A_MINUTE) logger.warn("the process of the account printed something", { printed });
    else if (entries === ENTRIES_A_MINUTE + 1)
      logger.warn("the process of the account prints so much that the rest of this minute is left out");
  };
  for (const stream of streams) readLines(stream, (lines) => log(shortened(lines)));
}

/** Whole lines, those that come at once together; of a line without end its beginning. */
function readLines(stream: Readable, onLines: (lines: string) => void): void {
  let begun = "";
  let isEndless = false;
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lineEnd = text.indexOf("\n");
    if (isEndless && lineEnd < 0) return;
    begun += isEndless ? text.slice(lineEnd + 1) : text;
    isEndless = false;
    const end = begun.lastIndexOf("\n");
    if (end > 0) onLines(begun.slice(0, end));
    begun = begun.slice(end + 1);
    if (begun.length <= MAX_CHARS) return;
    onLines(begun);
    begun = "";
    isEndless = true;
  });
  stream.once("end", () => {
    if (begun !== "") onLines(begun);
  });
}

/** It ends between two words: half a secret is not known as one. */
function shortened(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const words = text.slice(0, MAX_CHARS).replace(/\S*$/, "");
  return `${words}[the rest is left out]`;
}
