import type { GatewayHost } from "@signalbox/cli";
import { ASSETS } from "../assets.ts";
import { INSTALLED } from "../resolve/installed.ts";
import { VERSION } from "../version.ts";
import type { Tuning } from "./prepare.ts";

/** This gateway for the command line: each command loads what it needs of it, and no more. */
export function gatewayHost(tuning: Tuning = {}): GatewayHost {
  return {
    version: VERSION,
    program: ASSETS.program,
    skillsDir: ASSETS.skillsDir,
    packages: INSTALLED,
    channels: async () => (await import("../resolve/resolve-config.ts")).builtInChannels,
    prepare: async (...asked) => (await import("./prepare.ts")).prepare(...asked, tuning),
    replay: async () => (await import("./replay-host.ts")).replayHost,
  };
}
