import { type HostPackages, packagesFrom } from "@signalbox/setup/packages";

/** What is installed where this program is. */
export const INSTALLED: HostPackages = packagesFrom(import.meta);
