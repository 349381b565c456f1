import { createRequire } from "node:module";
import type { HostPackages } from "@signalbox/setup";

const { resolve } = createRequire(import.meta.url);

/** Packages as they are seen from here: SDKs of vendors, which people install as they need them, and what they add. */
export const INSTALLED: HostPackages = {
  missing: (names) => names.filter((name) => !isInstalled(name)),
  urlOf: (name) => import.meta.resolve(name),
  load: (name) => import(name),
};

function isInstalled(name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    // A package for ES modules alone is there, and has nothing for `require`.
    return !(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND");
  }
}
