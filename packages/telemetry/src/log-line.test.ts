import { expect, it } from "vitest";
import { formatLogLine, isAtLeast, readLogLine } from "./log-line.ts";

it("formats a JSON line for people", () => {
  const line = readLogLine(
    '{"level":"warn","time":"2026-11-22T09:30:12.000Z","account":"feishu/main","err":"not found","msg":"a call failed"}',
  );
  expect(line && formatLogLine(line)).toMatch(
    /^\d\d:30:12 WARN {2}a call failed {2}account=feishu\/main {2}err="not found"$/,
  );
});

it.each([
  "",
  "plain words",
  "[1]",
  '{"level":40,"time":"x","msg":"y"}',
  '{"level":"warn","time":"soon","msg":"y"}',
])("%j is not a log line", (text) => {
  expect(readLogLine(text)).toBeUndefined();
});

it("compares levels", () => {
  expect([isAtLeast("error", "warn"), isAtLeast("warn", "warn"), isAtLeast("debug", "info")]).toEqual([
    true,
    true,
    false,
  ]);
});

it("escapes control characters of a terminal", () => {
  const time = "2026-11-22T09:30:12.000Z";
  const line = {
    level: "warn",
    time,
    message: "said \u001b[2J",
    fields: { by: "\u009b31mEve\u202e" },
  } as const;
  expect(formatLogLine(line, "")).toBe(" WARN  said \\u{1b}[2J  by=\\u{9b}31mEve\\u{202e}");
});
