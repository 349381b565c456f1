import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { launchdPlist, systemdUnit } from "./service-files.ts";

const program = {
  node: process.execPath,
  program: "/opt/signal box/signalbox.js",
  home: "/home/a/50% & more",
};

it("writes paths so that systemd and launchd read them as they are", () => {
  expect(systemdUnit(program)).toContain(
    `ExecStart=${process.execPath} --max-semi-space-size=4 --initial-old-space-size=24 "/opt/signal box/signalbox.js" start --home "/home/a/50%% & more"`,
  );
  expect(launchdPlist("label", program)).toContain("<string>/home/a/50% &amp; more</string>");
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) console.info("skipped: whether systemd takes the unit, since there is no systemd-analyze.");

it.skipIf(!hasSystemd)("is a unit that systemd takes", () => {
  const folder = mkdtempSync(join(tmpdir(), "unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "signalbox.service");
  writeFileSync(file, systemdUnit({ ...program, program: process.execPath }));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  expect(stderr).not.toContain(file);
  expect(status).toBe(0);
});

// What macOS checks by `plutil -lint`: Python's own reader of property lists is as strict about their form.
const READ_PLIST =
  "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)";
const hasPython = spawnSync("python3", ["-c", "import plistlib"]).status === 0;
if (!hasPython)
  console.info("skipped: whether launchd could read the property list, since there is no python3.");

const readPlist = (text: string) =>
  spawnSync("python3", ["-c", READ_PLIST], { encoding: "utf8", input: text });

it.skipIf(!hasPython)("is a property list with the keys of launchd.plist(5), each of its type", () => {
  const { status, stdout, stderr } = readPlist(launchdPlist("dev.signalbox.gateway", program));
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    Label: "dev.signalbox.gateway",
    ProgramArguments: [
      process.execPath,
      "--max-semi-space-size=4",
      "--initial-old-space-size=24",
      "/opt/signal box/signalbox.js",
      "start",
      "--home",
      "/home/a/50% & more",
    ],
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ExitTimeOut: 45,
    // 077, which launchd reads as a decimal number.
    Umask: 0o077,
    StandardErrorPath: "/home/a/50% & more/service.log",
  });
});

it.skipIf(!hasPython)("is no property list where a path were written as it is", () => {
  const unescaped = launchdPlist("label", program).replaceAll("&amp;", "&");
  expect(readPlist(unescaped).stderr).toContain("not well-formed");
});
