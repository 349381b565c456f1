import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
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
