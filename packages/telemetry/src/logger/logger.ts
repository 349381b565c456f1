import { mkdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type Logger, pino } from "pino";
import { createStream, type RotatingFileStream } from "rotating-file-stream";
import { formatLogLine, readLogLine } from "../log-line.ts";
import { visibleJson } from "../visible.ts";

export type { Logger } from "pino";

/** Destination of log lines. */
interface LogTarget {
  write(line: string): void;
}

/** The log file is rotated at this size, and this number of rotated files is kept. */
const FILE_SIZE = "10M";
const EARLIER_FILES = 5;

/**
 * Creates a logger that writes JSON lines to standard error. Every line passes through `redact`.
 * Control and format characters of others, for example in names, are escaped.
 */
export function createLogger(
  level: string,
  redact: (text: string) => string,
  target: LogTarget = pino.destination({ dest: 2, sync: true }),
): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = pino.stdTimeFunctions.isoTime;
  const streamWrite = (line: string) => visibleJson(redact(line));
  return pino({ level, base: null, timestamp, formatters, hooks: { streamWrite } }, target);
}

/**
 * Creates the logger of the service, which writes to a file and to standard error. On a terminal the lines are
 * formatted for people.
 */
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

/** A rotated log file. */
export interface LogFile extends LogTarget {
  close(): Promise<void>;
}

/**
 * Creates a log file at the first line, so a gateway that cannot lock its home does not write to it. If the file cannot
 * be written, the lines are only on standard error, and the next line opens it again.
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
