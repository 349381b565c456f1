import { setTimeout as delay } from "node:timers/promises";
import { GatewayError, locateHome } from "@signalbox/home";
import { formatLogLine, isAtLeast, type LogLevel, readLogLine, visible } from "@signalbox/telemetry";
import { type LogReader, openLog } from "../../api/log-reader.ts";
import type { CommonOptions } from "../common-options.ts";
import { time } from "../table.ts";

interface LogsOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly level: LogLevel;
  readonly lines: number;
}

const POLL_MS = 250;

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
