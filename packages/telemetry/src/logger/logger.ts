import { mkdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type Logger, pino } from "pino";
import { createStream, type RotatingFileStream } from "rotating-file-stream";
import { formatLogLine, readLogLine } from "../log-line.ts";

export type { Logger } from "pino";

/** Where lines go. */
interface LogTarget {
  write(line: string): void;
}

/** The log's file begins anew at this size, and so many earlier ones are kept. */
const FILE_SIZE = "10M";
const EARLIER_FILES = 5;

/** A logger of JSON lines on standard error, every line passed through `redact`. */
export function createLogger(
  level: string,
  redact: (text: string) => string,
  target: LogTarget = pino.destination({ dest: 2, sync: true }),
): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ level, base: null, timestamp, formatters, hooks: { streamWrite: redact } }, target);
}

/** The log of the service: on standard error, in words where that is a terminal, and in a file. */
export function serviceLogger(level: string, redact: (text: string) => string, file: LogTarget): Logger {
  const out =
    process.stderr.isTTY === true ? inWords(process.stderr) : pino.destination({ dest: 2, sync: true });
  return createLogger(level, redact, {
    write(line) {
      out.write(line);
      file.write(line);
    },
  });
}

/** A file of lines that is rotated. Open until it is closed, or with its process. */
export interface LogFile extends LogTarget {
  close(): Promise<void>;
}

/**
 * Made at the first line: a gateway that is refused its home logs nothing into it. A file that cannot be written keeps
 * nothing from going on, since the same lines are on standard error: the next line opens it anew.
 */
export function createLogFile(file: string): LogFile {
  let stream: RotatingFileStream | undefined;

  function open(): RotatingFileStream | undefined {
    try {
      const opened = openFile(file);
      opened.on("error", () => {
        if (stream === opened) stream = undefined;
      });
      return opened;
    } catch {
      return undefined;
    }
  }

  return {
    write(line) {
      stream ??= open();
      stream?.write(line);
    },
    close: () => new Promise((resolve) => (stream === undefined ? resolve() : stream.end(resolve))),
  };
}

function inWords(terminal: LogTarget): LogTarget {
  return {
    write(line) {
      const read = readLogLine(line);
      terminal.write(read === undefined ? line : `${formatLogLine(read)}\n`);
    },
  };
}

function openFile(file: string): RotatingFileStream {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = basename(file);
  const nameOf = (_: unknown, index?: number): string => (index === undefined ? name : `${name}.${index}`);
  return createStream(nameOf, { path: folder, size: FILE_SIZE, rotate: EARLIER_FILES, mode: 0o600 });
}
