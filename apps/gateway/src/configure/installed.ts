import { type HostPackages, packagesFrom } from "./host-packages.ts";

/** Packages that are installed with this program. */
export const INSTALLED: HostPackages = packagesFrom(import.meta);
