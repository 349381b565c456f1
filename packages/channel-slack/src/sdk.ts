import { createRequire } from "node:module";
import { missingPackage } from "@signalbox/channel";

/**
 * Bolt, loaded at the first call. Of it the channel uses the client of the Web API and the receiver of socket mode:
 * Bolt's own `App` acknowledges events before they are kept.
 */
export function loadBolt(): typeof import("@slack/bolt") {
  try {
    return createRequire(import.meta.url)("@slack/bolt");
  } catch (error) {
    throw missingPackage(error, "@slack/bolt") ?? error;
  }
}
