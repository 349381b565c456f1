import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { launchdPlist, systemdUnit } from "./service-files.ts";

const program = {
  node: process.execPath,
  program: "/opt/signal box/signalbox.js",
  home: "/home/a/50% & more",
};

it("writes paths so that systemd and launchd read them as they are", () => {
  expect(systemdUnit(program)).toContain(
    `ExecStart=${process.execPath} "/opt/signal box/signalbox.js" start --home "/home/a/50%% & more"`,
  );
  expect(launchdPlist("label", program)).toContain("<string>/home/a/50% &amp; more</string>");
});

/** Legal names of folders, with whatever counts for systemd, a shell or a property list. */
const HOSTILE = `a $b\${HOME} %h 100% 'c' "d" \\e\\n ; #f & <g> ]]> é`;
const ENDS_LINES = "x\nExecStartPre=/bin/false\r\n</string><true/>";

it("writes nothing of a path outside its word, whatever the path is", () => {
  const home = `/${HOSTILE}/${ENDS_LINES}\\`;
  const unit = systemdUnit({ node: "/$n/node", program: "/p;", home });
  const [command = "", ...more] = unit.split("\n").filter((line) => line.startsWith("Exec"));
  expect(more).toEqual([]);
  expect(command).toMatch(/^ExecStart=\/\$n\/node "\/p;" start --home "/);
  // What JSON escapes in a string, systemd does.
  const word = command.slice(command.indexOf("--home ") + "--home ".length);
  expect(JSON.parse(word).replaceAll("%%", "%").replaceAll("$$", "$")).toBe(home);
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) console.info("skipped: whether systemd takes the unit, since there is no systemd-analyze.");

// systemd takes no program in whose path there are quotes, backslashes or line ends.
it.skipIf(!hasSystemd).each(["plain", "a $b${HOME} %h 100% ; #f & <g> é"])(
  "is a unit that systemd takes, with a program in a folder called %s",
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), "unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const node = join(folder, name, "node");
    mkdirSync(dirname(node));
    symlinkSync(process.execPath, node);
    const file = join(folder, "signalbox.service");
    writeFileSync(file, systemdUnit({ node, program: process.execPath, home: `/${HOSTILE}/${ENDS_LINES}` }));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    expect(stderr).not.toContain(file);
    expect(status).toBe(0);
  },
);

// What macOS checks by `plutil -lint`: Python's own reader of property lists is as strict about their form.
const READ_PLIST =
  "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)";
const hasPython = spawnSync("python3", ["-c", "import plistlib"]).status === 0;
if (!hasPython)
  console.info("skipped: whether launchd could read the property list, since there is no python3.");

const readPlist = (text: string) =>
  spawnSync("python3", ["-c", READ_PLIST], { encoding: "utf8", input: text });

it.skipIf(!hasPython)("is a property list with the keys of launchd.plist(5), each of its type", () => {
  const home = `/${HOSTILE}/${ENDS_LINES}`;
  const { status, stdout, stderr } = readPlist(launchdPlist("dev.signalbox.gateway", { ...program, home }));
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    Label: "dev.signalbox.gateway",
    ProgramArguments: [process.execPath, "/opt/signal box/signalbox.js", "start", "--quiet", "--home", home],
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ExitTimeOut: 45,
    // 077, which launchd reads as a decimal number.
    Umask: 0o077,
    StandardErrorPath: `${home}/service.log`,
  });
});

it.skipIf(!hasPython)("is no property list where a path were written as it is", () => {
  const unescaped = launchdPlist("label", program).replaceAll("&amp;", "&");
  expect(readPlist(unescaped).stderr).toContain("not well-formed");
});
