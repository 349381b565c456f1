import type * as Tools from "../../src/index.ts";
import { ATTEMPTS, type Attempt, type AttemptKind } from "./attempts.ts";
import { ATTACKERS, type Attacker, openWorld } from "./world.ts";

export interface Breach {
  readonly kind: AttemptKind;
  readonly attacker: Attacker;
  readonly attempt: string;
  readonly damage: string;
}

export interface Tried {
  readonly attempts: number;
  readonly breaches: readonly Breach[];
}

/** Tries attempts, each in a world of its own, as every attacker. */
export async function tryAll(
  tools: typeof Tools,
  sandbox: Tools.Sandbox,
  attempts: readonly Attempt[] = ATTEMPTS,
): Promise<Tried> {
  const breaches: Breach[] = [];
  let tried = 0;
  for (const attempt of attempts) {
    for (const attacker of ATTACKERS) {
      tried += 1;
      const damage = await tryOne(tools, sandbox, attempt, attacker);
      if (damage === undefined) continue;
      breaches.push({ kind: attempt.kind, attacker, attempt: JSON.stringify(attempt.calls), damage });
    }
  }
  return { attempts: tried, breaches };
}

async function tryOne(
  tools: typeof Tools,
  sandbox: Tools.Sandbox,
  attempt: Attempt,
  attacker: Attacker,
): Promise<string | undefined> {
  const world = await openWorld(tools, sandbox);
  try {
    const sight = await world.attack(attacker, attempt.calls);
    return world.damage(attempt.isForLater === true ? await world.ownersNextRun() : sight);
  } finally {
    await world.close();
  }
}
