import type { GatewayHost } from "../src/host.ts";

/** A gateway that can do what a test gives it, and nothing else. */
export function hostWith(parts: Partial<GatewayHost> = {}): GatewayHost {
  const never = (): never => {
    throw new Error("the test gives the gateway no such part");
  };
  return {
    version: "1.2.3",
    program: "/usr/lib/signalbox.js",
    missingPackages: () => [],
    channels: async () => [],
    agents: never,
    prepare: never,
    memories: never,
    skills: never,
    trust: never,
    can: never,
    prune: never,
    schedules: never,
    messages: never,
    trace: never,
    replay: never,
    ...parts,
  };
}
