import { gather } from "./gather.ts";
import { judge, type Verdict } from "./judge.ts";
import type { World } from "./world.ts";

/** Holds every message against what the fake servers saw. The gateway must have ended. */
export async function check(world: World): Promise<Verdict> {
  return judge(await gather(world));
}
