import type { GatewayHost } from "../src/host.ts";

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
