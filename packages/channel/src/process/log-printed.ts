import type { Readable } from "node:stream";
import type { ChannelContext } from "../contract/definition.ts";
import { limitEntries, MAX_CHARS, shortened } from "./log-limits.ts";

/**
 * Logs what a process prints, as the rest of what its account has to say: secrets are taken out there. What comes
 * at once is one entry, so that a stack, or a key of several lines, is seen as a whole.
 */
export function logPrinted(
  streams: readonly Readable[],
  { logger, clock }: Pick<ChannelContext, "logger" | "clock">,
): void {
  const limited = limitEntries(clock, () =>
    logger.warn("the account's process prints too much; the rest of this minute is left out"),
  );
  const log = (printed: string): void =>
    limited(() => logger.warn("the account's process printed something", { printed: shortened(printed) }));
  for (const stream of streams) readLines(stream, log);
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
