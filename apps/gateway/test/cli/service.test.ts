import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { acquireHomeLock } from "@signalbox/store";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

it.runIf(process.platform === "linux")(
  "takes an empty XDG_CONFIG_HOME for none, as systemd does",
  async () => {
    vi.stubEnv("XDG_CONFIG_HOME", "");
    const { out } = await runCommand(hostWith(), "service", "status", "--json").finally(() =>
      vi.unstubAllEnvs(),
    );
    expect(JSON.parse(out)).toMatchObject({
      file: join(homedir(), ".config/systemd/user/signalbox.service"),
    });
  },
);

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-service-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Takes the place of a program of the system, for one test. */
function fakeServer(dir: string, name: string, script: string): void {
  writeFileSync(join(dir, name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
}

function onSystem(platform: NodeJS.Platform, dir: string): void {
  const { value: before } = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
  Object.defineProperty(process, "platform", { value: platform });
  vi.stubEnv("PATH", `${dir}:${process.env["PATH"]}`);
  vi.stubEnv("HOME", dir);
  vi.stubEnv("XDG_CONFIG_HOME", "");
  onTestFinished(() => {
    Object.defineProperty(process, "platform", { value: before });
    vi.unstubAllEnvs();
  });
}

const service = (word: string, dir: string) =>
  runCommand(hostWith(), "service", word, "--json", "--home", join(dir, "home"));

it.each(["linux", "darwin"] as const)("leaves the service of another home as it is on %s", async (system) => {
  const dir = newFolder();
  onSystem(system, dir);
  for (const name of ["systemctl", "loginctl", "launchctl"]) fakeServer(dir, name, "exit 0");
  const install = (home: string) => runCommand(hostWith(), "service", "install", "--home", join(dir, home));
  expect((await install("it's $one & only")).code).toBe(0);
  expect((await install("it's $one & only")).code).toBe(0);
  const second = await install("it's $one");
  expect([second.code, second.err]).toEqual([1, expect.stringContaining("starts a gateway on another home")]);
});

describe("on macOS", () => {
  const LOADED = '{\n\t"Label" = "dev.signalbox.gateway";\n\t"LastExitStatus" = 19968;\n};';
  const RUNNING = LOADED.replace("\n}", '\n\t"PID" = 4711;\n}');
  const NOT_LOADED = `echo 'Could not find service "dev.signalbox.gateway" in domain for port' >&2; exit 113`;

  it.each([
    ["that is loaded and has a process runs", `echo '${RUNNING}'`, "exit 0", true],
    ["that is loaded and has no process does not run", `echo '${LOADED}'`, "exit 0", false],
    ["that is not loaded does not run", NOT_LOADED, "exit 0", false],
    ["of which nothing can be heard may run", "exit 1", "exit 1", null],
  ])("a service %s", async (_, ofService, ofAll, running) => {
    const dir = newFolder();
    onSystem("darwin", dir);
    fakeServer(dir, "launchctl", "exit 0");
    expect((await service("install", dir)).code).toBe(0);
    fakeServer(dir, "launchctl", `if test $# = 2; then ${ofService}; else ${ofAll}; fi`);
    expect(JSON.parse((await service("status", dir)).out)).toMatchObject({ installed: true, running });
  });

  it("removes a service that is not loaded", async () => {
    const dir = newFolder();
    onSystem("darwin", dir);
    fakeServer(dir, "launchctl", "exit 0");
    await service("install", dir);
    fakeServer(dir, "launchctl", `case "$*" in unload*) exit 5;; "list "*) exit 113;; esac`);
    expect((await service("remove", dir)).code).toBe(0);
    expect(JSON.parse((await service("status", dir)).out)).toMatchObject({ installed: false });
  });
});

describe("on Linux", () => {
  it("says that a service goes on which could not be stopped, and leaves it", async () => {
    const dir = newFolder();
    onSystem("linux", dir);
    for (const name of ["systemctl", "loginctl"]) fakeServer(dir, name, "exit 0");
    expect((await service("install", dir)).code).toBe(0);
    fakeServer(dir, "systemctl", "echo No bus here >&2; exit 1");
    const { code, err } = await service("remove", dir);
    expect(code).toBe(69);
    expect(err).toContain("`systemctl --user disable --now signalbox.service` failed");
    expect(JSON.parse((await service("status", dir)).out)).toMatchObject({ installed: true, running: null });
  });

  it("does not take the service for another gateway where systemd does not answer", async () => {
    const dir = newFolder();
    onSystem("linux", dir);
    for (const name of ["systemctl", "loginctl"]) fakeServer(dir, name, "exit 0");
    await service("install", dir);
    const lock = acquireHomeLock(join(dir, "home"));
    onTestFinished(() => lock.release());
    fakeServer(dir, "systemctl", "exit 1");
    const { code, err } = await service("install", dir);
    expect([code, err]).toEqual([69, expect.stringContaining("whether it is the service is unknown")]);
  });

  it("runs a service that ends with its user's last session, and says so", async () => {
    const dir = newFolder();
    onSystem("linux", dir);
    fakeServer(dir, "systemctl", "exit 0");
    fakeServer(dir, "loginctl", "echo Access denied >&2; exit 1");
    const { code, out } = await service("install", dir);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      started: true,
      notes: [expect.stringContaining('`loginctl enable-linger` failed ("Access denied")')],
    });
  });
});

it.runIf(process.platform === "linux")(
  "starts a service that runs anew with what it is to be now",
  async () => {
    const dir = newFolder();
    const bin = join(dir, "bin");
    const calls = join(dir, "calls");
    mkdirSync(bin);
    for (const name of ["systemctl", "loginctl"])
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} "$@" >> ${calls}\n`, { mode: 0o700 });
    vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`);
    vi.stubEnv("XDG_CONFIG_HOME", join(dir, "config"));
    const install = () => runCommand(hostWith(), "service", "install", "--home", join(dir, "home"));
    await install()
      .then(install)
      .finally(() => vi.unstubAllEnvs());
    const last = readFileSync(calls, "utf8").trim().split("\n").slice(-5);
    expect(last).toEqual([
      "systemctl --user disable --now signalbox.service",
      "systemctl --user daemon-reload",
      "systemctl --user daemon-reload",
      "systemctl --user enable --now signalbox.service",
      "loginctl enable-linger",
    ]);
  },
);
