import { type Logger, pino } from "pino";

export type { Logger } from "pino";

/** A logger of JSON lines on standard error, every line passed through `redact`. */
export function createLogger(
  level: string,
  redact: (text: string) => string,
  stream?: NodeJS.WritableStream,
): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: redact } },
    stream ?? pino.destination({ dest: 2, sync: true }),
  );
}
