import type { Script, ScriptedTurn } from "@signalbox/testkit";
import type { World } from "./harness.ts";

/** A model that waits before its turn `index` until it is let go, and says something when it has no turn left. */
export function pauseAt(world: World, index: number, turns: Script) {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  world.script(async (request, at): Promise<ScriptedTurn> => {
    if (at === index) {
      reached.resolve();
      await gate.promise;
    }
    const turn = typeof turns === "function" ? await turns(request, at) : turns[at];
    return turn ?? { text: "and that" };
  });
  return { reached: reached.promise, goOn: gate.resolve };
}
