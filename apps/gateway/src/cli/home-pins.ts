import { type Home, hasDatabase, withDatabase } from "@signalbox/home";
import type { PinStore } from "@signalbox/skills";
import type { StoreAccess } from "@signalbox/store";
import { openSkillPins } from "../configure/skill-pins.ts";

/**
 * Calls `use` with the pins of skills in the database of a home. Before the first start of the gateway there is no
 * database, and no skill is pinned.
 */
export async function withSkillPins<T>(
  home: Home,
  access: Exclude<StoreAccess, "own">,
  use: (pins: PinStore | undefined) => Promise<T>,
): Promise<T> {
  if (!(await hasDatabase(home))) return use(undefined);
  return withDatabase(home, access, ({ kv }) => use(openSkillPins(kv, home)));
}
