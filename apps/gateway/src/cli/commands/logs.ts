import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { GatewayError, locateHome } from "@signalbox/home";
import { formatLogLine, isAtLeast, type LogLevel, readLogLine, visible } from "@signalbox/telemetry";
import type { CommonOptions } from "../common-options.ts";
import { time } from "../table.ts";

interface LogsOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly level: LogLevel;
  readonly lines: number;
}

const POLL_MS = 250;
/** Number of bytes at the end of the file to search for the last lines. */
const TAIL_BYTES = 4 * 1_048_576;

/** `signalbox logs`: prints the last lines of the log. `--follow` also prints new ones. */
export async function logs(options: LogsOptions): Promise<void> {
  const { logFile } = locateHome(options.home, process.env);
  const tail = openLog(logFile);
  if (tail === undefined)
    throw new GatewayError(
      "failure",
      `There is no log at ${logFile} yet. The gateway creates it when it logs its first line.`,
    );
  const wanted = tail.read().flatMap((line) => shown(line, options));
  for (const line of wanted.slice(-options.lines)) process.stdout.write(`${line}\n`);
  if (options.follow === true) await follow(logFile, tail, options);
  tail.close();
}

/** Follows the log until the command is interrupted. Continues with the new file after a rotation. */
async function follow(file: string, first: LogReader, options: LogsOptions): Promise<void> {
  const ending = new AbortController();
  process.once("SIGINT", () => ending.abort());
  let reader = first;
  while (!ending.signal.aborted) {
    for (const line of reader.read().flatMap((text) => shown(text, options)))
      process.stdout.write(`${line}\n`);
    if (reader.isReplaced(file)) {
      const next = openLog(file);
      if (next !== undefined) {
        reader.close();
        reader = next;
        continue;
      }
    }
    await delay(POLL_MS, undefined, { signal: ending.signal }).catch(() => undefined);
  }
}

/** Formats a line as requested, or drops it. Lines that are not log entries, such as stack traces, are always shown. */
function shown(text: string, { json, level }: LogsOptions): string[] {
  const line = readLogLine(text);
  if (line !== undefined && !isAtLeast(line.level, level)) return [];
  if (json === true) return [text];
  return [line === undefined ? visible(text) : formatLogLine(line, time(Date.parse(line.time)))];
}

/** Reads the lines of one file as they are written. */
interface LogReader {
  /** Returns complete lines added since the last call. */
  read(): string[];
  /** Returns true if the log was rotated. */
  isReplaced(file: string): boolean;
  close(): void;
}

function openLog(file: string): LogReader | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const descriptor = openSync(file, "r");
  const { ino, size } = fstatSync(descriptor);
  let offset = Math.max(0, size - TAIL_BYTES);
  let isCut = offset > 0;
  let rest = Buffer.alloc(0);
  return {
    read() {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset));
      offset += readSync(descriptor, bytes, 0, bytes.length, offset);
      const text = Buffer.concat([rest, bytes]);
      const end = text.lastIndexOf(10) + 1;
      rest = text.subarray(end);
      const lines = text.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
      const from = isCut && lines.length > 0 ? 1 : 0;
      if (lines.length > 0) isCut = false;
      return lines.slice(from);
    },
    isReplaced: (name) => statSync(name, { throwIfNoEntry: false })?.ino !== ino,
    close: () => closeSync(descriptor),
  };
}
