import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { hostWith } from "../../../test/cli/host.ts";
import { installSystem } from "./system-service.ts";

/** A machine whose programs write down their calls. `failing` is a part of the calls that fail. */
function openMachine(failing = "nothing") {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-system-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const programs = join(dir, "programs");
  mkdirSync(programs);
  const script = `#!/bin/sh
echo "$(basename "$0") $*" >>'${dir}/calls'
case "$(basename "$0") $*" in *"${failing}"*) echo "not here" >&2; exit 1;; esac
`;
  for (const name of ["id", "useradd", "install", "runuser", "systemctl"])
    writeFileSync(join(programs, name), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  const out = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    out.mockRestore();
  });
  const file = join(dir, "signalbox.service");
  return {
    file,
    calls: () => readFileSync(join(dir, "calls"), "utf8").trim().split("\n"),
    install: (isRoot = true) => installSystem({}, hostWith(), { platform: "linux", isRoot, file }),
  };
}

it("creates a user and a unit that runs as this user and writes only to its home", async () => {
  const { install, file, calls } = openMachine("id -u");
  await install();
  const unit = readFileSync(file, "utf8");
  for (const line of ["User=signalbox", "ProtectSystem=strict", "ReadWritePaths=/var/lib/signalbox"])
    expect(unit.split("\n")).toContain(line);
  expect(unit).toContain("/usr/lib/signalbox.js start --home /var/lib/signalbox\n");
  expect(unit).toContain("WantedBy=multi-user.target");
  expect(calls().map((call) => call.split(" ").slice(0, 2).join(" "))).toEqual([
    "id -u",
    "useradd --system",
    "install --directory",
    "runuser -u",
    "systemctl daemon-reload",
    "systemctl enable",
  ]);
});

it("creates no user that exists, and restarts a service that is installed again", async () => {
  const { install, calls } = openMachine();
  await install();
  await install();
  expect(calls().filter((call) => call.startsWith("useradd"))).toEqual([]);
  expect(calls().at(-1)).toBe("systemctl restart signalbox.service");
});

it("refuses without root, and if the user cannot run the program", async () => {
  const first = openMachine();
  await expect(first.install(false)).rejects.toThrow("Run it as root");
  const second = openMachine("runuser");
  await expect(second.install()).rejects.toThrow(/cannot run \/usr\/lib\/signalbox.js .*Install Node.js/);
  expect(existsSync(second.file)).toBe(false);
});
