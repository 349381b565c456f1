import type { Readable } from "node:stream";
import type { ChannelContext, ChannelLogger, Clock, Json } from "@signalbox/channel";
import type { LogEntry } from "./schemas.ts";

/** Maximum length of a log entry, in characters. */
const MAX_CHARS = 4_000;
/**
 * Maximum number of entries per minute, for each level and for printed output. More entries would push others out of
 * the log.
 */
const MAX_ENTRIES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/** Writes log entries and printed output from an account's process to the gateway's log, within limits. */
export interface ProcessLog {
  write(entry: LogEntry): void;
  /**
   * Logs a stream line by line as warnings. Lines that arrive together become one entry, so a stack trace stays intact.
   */
  capture(stream: Readable): void;
}

export function createProcessLog({ logger, clock }: Pick<ChannelContext, "logger" | "clock">): ProcessLog {
  const limited = (level: keyof ChannelLogger) =>
    limitPerMinute(clock, () =>
      logger.warn("the account's process logs too much; dropping its entries for the rest of this minute", {
        level,
      }),
    );
  // Separate limits: a verbose debug log must not suppress errors.
  const limits = {
    debug: limited("debug"),
    info: limited("info"),
    warn: limited("warn"),
    error: limited("error"),
  };
  const limitPrinted = limitPerMinute(clock, () =>
    logger.warn("the account's process prints too much; dropping its output for the rest of this minute"),
  );
  return {
    write: ({ level, message, fields }) =>
      limits[level](() => logger[level](shorten(message), fields && shortenFields(fields))),
    capture(stream) {
      readLines(stream, (printed) =>
        limitPrinted(() => logger.warn("output of the account's process", { printed: shorten(printed) })),
      );
    },
  };
}

function limitPerMinute(clock: Pick<Clock, "now">, onExcess: () => void): (log: () => void) => void {
  let minute = 0;
  let entries = 0;
  return (log) => {
    const now = Math.floor(clock.now() / MINUTE_MS);
    if (now !== minute) entries = 0;
    minute = now;
    entries += 1;
    if (entries <= MAX_ENTRIES_PER_MINUTE) log();
    else if (entries === MAX_ENTRIES_PER_MINUTE + 1) onExcess();
  };
}

/** Cuts between words, because redaction does not recognize a truncated secret. */
function shorten(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  return `${text.slice(0, MAX_CHARS).replace(/\S*$/, "")}[truncated]`;
}

function shortenFields(fields: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const text = JSON.stringify(fields);
  return text.length <= MAX_CHARS ? fields : { fields: shorten(text) };
}

/**
 * Reports complete lines, together if they arrive together. Reports only the start of a line that is longer than
 * `MAX_CHARS`.
 */
function readLines(stream: Readable, onLines: (lines: string) => void): void {
  let pending = "";
  let isSkipping = false;
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lineEnd = text.indexOf("\n");
    if (isSkipping && lineEnd < 0) return;
    pending += isSkipping ? text.slice(lineEnd + 1) : text;
    isSkipping = false;
    const end = pending.lastIndexOf("\n");
    if (end > 0) onLines(pending.slice(0, end));
    pending = pending.slice(end + 1);
    if (pending.length <= MAX_CHARS) return;
    onLines(pending);
    pending = "";
    isSkipping = true;
  });
  stream.once("end", () => {
    if (pending !== "") onLines(pending);
  });
}
