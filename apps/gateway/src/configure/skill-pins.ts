import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import type { Home } from "@signalbox/home";
import { createPins, importPinFiles, type PinStore } from "@signalbox/skills";
import type { KvStore } from "@signalbox/store";

/**
 * Opens the pins of skills in the store. Folders in the home are stored under their path within it, so that gateways
 * that share the store share the pins, wherever their homes are.
 */
export function openSkillPins(kv: Pick<KvStore, "get" | "set">, { dir: home }: Pick<Home, "dir">): PinStore {
  // The folders of skills may have their links resolved.
  const homes = [home, realpathSync(home)];
  return createPins(kv, (dir) => {
    const path = homes.map((base) => relative(base, dir)).find(isBelow);
    return path === undefined ? dir : `home:${path}`;
  });
}

function isBelow(path: string): boolean {
  return path !== ".." && !path.startsWith("../") && !isAbsolute(path);
}

/** Moves the pins that earlier versions stored in the home into the store. Called before skills are pinned. */
export function importSkillPins(kv: Pick<KvStore, "get" | "set">, home: Home): Promise<void> {
  return importPinFiles(home.skillPinsDir, kv);
}
