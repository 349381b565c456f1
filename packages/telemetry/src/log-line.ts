import { visibleLine } from "./visible.ts";

/** Log levels in ascending order. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** A parsed log line. */
export interface LogLine {
  readonly level: LogLevel;
  /** An ISO date. */
  readonly time: string;
  readonly message: string;
  /** All other fields. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Parses a log line. Returns undefined if it is not one. */
export function readLogLine(text: string): LogLine | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const { level, time, msg, ...fields } = value;
  const logLevel = LOG_LEVELS.find((name) => name === level);
  if (logLevel === undefined || typeof time !== "string" || Number.isNaN(Date.parse(time))) return undefined;
  return { level: logLevel, time, message: typeof msg === "string" ? msg : "", fields };
}

/** Formats a line for people: `09:30:12 WARN  a message  key=value`. */
export function formatLogLine(line: LogLine, at: string = timeOfDay(line.time)): string {
  const { level, message, fields } = line;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  const told = [message, ...rest].filter((part) => part !== "").join("  ");
  return `${at} ${level.toUpperCase().padEnd(5)} ${visibleLine(told)}`;
}

/** Returns true if `level` is `least` or higher. */
export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

function timeOfDay(time: string): string {
  return new Date(time).toLocaleTimeString("en-GB", { hour12: false });
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return /\s/.test(value) || value === "" ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? "undefined";
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
