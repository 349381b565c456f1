import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "signalbox-logs-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, "logs"));
  file = join(home, "logs", "gateway.log");
});

const line = (level: string, msg: string): string =>
  `${JSON.stringify({ level, time: "2026-11-22T09:00:00.000Z", msg })}\n`;

it("shows the last lines that are urgent enough, and words that are no lines of the log", async () => {
  writeFileSync(file, `${line("info", "one")}${line("debug", "two")}${line("warn", "three")}a crash\n`);
  const { out } = await runCommand(hostWith(), "logs", "--home", home, "--lines", "2");
  expect(out).toMatch(/^2026-11-2\d \d\d:00:00 WARN {2}three\na crash\n$/);
  expect((await runCommand(hostWith(), "logs", "--home", home, "--level", "debug")).out).toContain("two");
});

it("shows a line with a damaged time as it is", async () => {
  const damaged = JSON.stringify({ level: "warn", time: "2026-11-2\ufffd", msg: "one" });
  writeFileSync(file, `${damaged}\n`);
  expect((await runCommand(hostWith(), "logs", "--home", home)).out).toBe(`${damaged}\n`);
});

it("says so where nothing was logged yet", async () => {
  const { err, code } = await runCommand(hostWith(), "logs", "--home", home);
  expect([err, code]).toEqual([expect.stringContaining("There is no log"), 1]);
});

it("follows the log into the file that comes after a full one, until it is interrupted", async () => {
  writeFileSync(file, line("info", "before"));
  const written: string[] = [];
  const running = runCommand(hostWith(), "logs", "--follow", "--home", home);
  const write = vi.mocked(process.stdout.write);
  write.mockImplementation((text) => written.push(String(text)) > 0);
  appendFileSync(file, line("info", "while"));
  await expect.poll(() => written.join("")).toContain("while");
  renameSync(file, `${file}.1`);
  writeFileSync(file, line("info", "after"));
  await expect.poll(() => written.join("")).toContain("after");
  process.emit("SIGINT");
  await running;
});
