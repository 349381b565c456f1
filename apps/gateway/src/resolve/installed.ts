import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/** Those of the packages that cannot be imported from here: SDKs of vendors, which people install as they need them. */
export function missingPackages(names: readonly string[]): readonly string[] {
  return names.filter((name) => !isInstalled(name));
}

function isInstalled(name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    // A package for ES modules alone is there, and has nothing for `require`.
    return !(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND");
  }
}

/** What to do about them. */
export function installCommand(names: readonly string[]): string {
  return `Add what is missing, where the gateway is installed: npm install ${names.join(" ")}`;
}
