import { createRequire } from "node:module";
import { createMissingPackageError } from "@signalbox/channel";

/**
 * Loads Bolt on the first call. Only its Web API client and its socket mode receiver are used, because Bolt's
 * `App` acknowledges events before they are stored.
 */
export function loadBolt(): typeof import("@slack/bolt") {
  try {
    return createRequire(import.meta.url)("@slack/bolt");
  } catch (error) {
    throw createMissingPackageError(error, "@slack/bolt") ?? error;
  }
}
