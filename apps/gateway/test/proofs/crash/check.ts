import { gather, type JudgedWorld } from "./gather.ts";
import { judge, type Verdict } from "./judge.ts";

/** Holds every message against what the fake servers saw. The gateways must have ended. */
export async function check(world: JudgedWorld): Promise<Verdict> {
  return judge(await gather(world));
}
