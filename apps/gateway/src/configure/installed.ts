import { type HostPackages, packagesFrom } from "./host-packages.ts";

/** What is installed where this program is. */
export const INSTALLED: HostPackages = packagesFrom(import.meta);
