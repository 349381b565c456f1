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
    `ExecStart=${process.execPath} --max-semi-space-size=4 "/opt/signal box/signalbox.js" start --home "/home/a/50%% & more"`,
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
