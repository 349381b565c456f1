import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
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

it.runIf(process.platform === "linux")(
  "starts a service that runs anew with what it is to be now",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "signalbox-service-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
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
    const last = readFileSync(calls, "utf8").trim().split("\n").slice(-6);
    expect(last).toEqual([
      "systemctl --user is-active --quiet signalbox.service",
      "systemctl --user disable --now signalbox.service",
      "systemctl --user daemon-reload",
      "systemctl --user daemon-reload",
      "systemctl --user enable --now signalbox.service",
      "loginctl enable-linger",
    ]);
  },
);
