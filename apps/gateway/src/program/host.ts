import type { GatewayHost } from "@signalbox/cli";
import { resolveAgents } from "@signalbox/setup/agents";
import { ASSETS } from "../assets.ts";
import { INSTALLED } from "../resolve/installed.ts";
import { VERSION } from "../version.ts";
import type { Tuning } from "./prepare.ts";

/** This gateway for the command line: each command loads what it needs of it, and no more. */
export function gatewayHost(tuning: Tuning = {}): GatewayHost {
  return {
    version: VERSION,
    program: ASSETS.program,
    missingPackages: INSTALLED.missing,
    agents({ home, loaded }) {
      const { all, defaultId } = resolveAgents(loaded, home);
      return { ids: all.map(({ id }) => id), defaultId };
    },
    channels: async () => (await import("../resolve/resolve-config.ts")).builtInChannels,
    prepare: async (...asked) => (await import("./prepare.ts")).prepare(...asked, tuning),
    memories: async (configured) => (await import("./readings.ts")).openMemories(configured),
    skills: async (configured) => (await import("./readings.ts")).readSkills(configured),
    trust: async (...asked) => (await import("./readings.ts")).trustFile(...asked),
    schedules: async (home) => (await import("./readings.ts")).schedulesIn(home),
    messages: async (home, wanted) => (await import("./readings.ts")).messagesIn(home, wanted),
    trace: async (home, id) => (await import("./readings.ts")).traceIn(home, id),
    can: async (...asked) => (await import("./can.ts")).canUse(...asked),
    prune: async (configured) => (await import("./upkeep.ts")).prune(configured),
    replay: async () => (await import("./replay-host.ts")).replayHost,
  };
}
