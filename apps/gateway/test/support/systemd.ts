import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A systemd that does nothing, writes down what it is asked, and fails at what has `broken` in it. */
export function fakeSystemd(dir: string, broken = "nothing") {
  const programs = join(dir, "programs");
  const asked = join(dir, "asked");
  mkdirSync(programs);
  for (const name of ["systemctl", "loginctl"])
    writeFileSync(
      join(programs, name),
      `#!/bin/sh
echo "${name} $*" >>'${asked}'
case "$*" in *${broken}*) echo "No bus here" >&2; exit 1;; esac
`,
      { mode: 0o755 },
    );
  return {
    env: { XDG_CONFIG_HOME: join(dir, "config"), PATH: `${programs}:${process.env["PATH"]}` },
    unit: join(dir, "config/systemd/user/signalbox.service"),
    asked: () => (existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n") : []),
  };
}
