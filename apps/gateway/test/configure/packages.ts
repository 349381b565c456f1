import type { HostPackages } from "../../src/configure/host-packages.ts";

/** The packages of this repository, of which none is missing. */
export const PACKAGES: HostPackages = {
  missing: () => [],
  urlOf: (name) => import.meta.resolve(name),
  load: (name) => import(name),
};
