import { join } from "node:path";
import type { GatewayHost } from "../../src/cli/host.ts";
import { createSetup } from "../../src/configure/create-setup.ts";

/** The packages of this repository, of which none is missing. */
export const PACKAGES: GatewayHost["packages"] = {
  missing: () => [],
  urlOf: (name) => import.meta.resolve(name),
  load: (name) => import(name),
};

/** A gateway that can do what a test gives it, and nothing else. */
export function hostWith(parts: Partial<GatewayHost> = {}): GatewayHost {
  const never = (): never => {
    throw new Error("the test gives the gateway no such part");
  };
  return {
    version: "1.2.3",
    program: "/usr/lib/signalbox.js",
    skillsDir: "/usr/lib/skills",
    packages: PACKAGES,
    channels: async () => [],
    prepare: never,
    replay: never,
    ...parts,
  };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A gateway that says what a configuration comes to, without channels or skills. */
export function hostThatPrepares(home: string): GatewayHost {
  return hostWith({
    prepare: async (configured, vault) => ({
      setup: await createSetup({
        ...configured,
        vault,
        packages: PACKAGES,
        channels: [],
        ownChannels: [],
        tools: [],
        skillsDir: join(home, "no-skills"),
        logger: () => silent,
      }),
      start: () => Promise.reject(new Error("nothing is started")),
    }),
  });
}
