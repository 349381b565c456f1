import { ASSETS } from "./assets.ts";
import type { GatewayHost } from "./cli/host.ts";
import { INSTALLED } from "./configure/installed.ts";
import type { Tuning } from "./prepare.ts";
import { VERSION } from "./version.ts";

/** Connects the command line to this gateway. Each command imports only what it needs. */
export function gatewayHost(tuning: Tuning = {}): GatewayHost {
  return {
    version: VERSION,
    program: ASSETS.program,
    skillsDir: ASSETS.skillsDir,
    packages: INSTALLED,
    channels: async () => (await import("./configure/resolve-config.ts")).builtInChannels,
    prepare: async (...asked) => (await import("./prepare.ts")).prepare(...asked, tuning),
    replay: async () => (await import("./replay-host.ts")).replayHost,
  };
}
