import { unwatchFile, watchFile } from "node:fs";
import type { Home } from "../layout.ts";

/** How often the file is looked at, in milliseconds: also where a volume tells of no change. */
const LOOK_MS = 1_000;

/**
 * Calls back when the configuration file has changed. It is looked at by itself, since what the gateway writes all the
 * time lies in the same folder; an editor may put another file in its place.
 */
export function watchConfig(
  { configFile }: Pick<Home, "configFile">,
  onChange: () => void,
): { readonly stop: () => void } {
  const look = (): void => onChange();
  watchFile(configFile, { interval: LOOK_MS, persistent: false }, look);
  return { stop: () => unwatchFile(configFile, look) };
}
