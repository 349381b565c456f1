import type * as Tools from "../../src/index.ts";
import type { AttemptKind } from "./attempt-kinds.ts";
import { ATTEMPTS, type Attempt } from "./attempts.ts";
import type { Subject } from "./subject.ts";
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

/** Number of concurrent attempts. Most of their time is waiting for a sandbox. */
const AT_ONCE = 4;

/** Makes attempts as some attackers, by default all, each in a new world. */
export async function tryAll(
  tools: Subject,
  sandbox: Tools.Sandbox,
  attempts: readonly Attempt[] = ATTEMPTS,
  attackersOf: (attempt: Attempt) => readonly Attacker[] = () => ATTACKERS,
): Promise<Tried> {
  const breaches: Breach[] = [];
  const open = attempts.flatMap((attempt) => {
    const attackers: readonly Attacker[] = attempt.isOwners === true ? ["owner"] : attackersOf(attempt);
    return attackers.map((attacker) => ({ attempt, attacker }));
  });
  const tried = open.length;
  const work = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const { attempt, attacker } = next;
      const damage = await tryOne(tools, sandbox, attempt, attacker);
      if (damage === undefined) continue;
      breaches.push({ kind: attempt.kind, attacker, attempt: JSON.stringify(attempt.calls), damage });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { attempts: tried, breaches };
}

async function tryOne(
  tools: Subject,
  sandbox: Tools.Sandbox,
  attempt: Attempt,
  attacker: Attacker,
): Promise<string | undefined> {
  const world = await openWorld(tools, sandbox, attempt);
  try {
    if (attempt.isAsked !== undefined)
      return world.damage(await world.askedAttack(attacker, attempt.calls, attempt.isAsked));
    if (attempt.before !== undefined) await world.attack("owner", attempt.before);
    const sight = await world.attack(attacker, attempt.calls);
    const seen = attempt.isForLater === true ? await world.ownersNextRun() : sight;
    const stayed = await world.endCommands();
    const { unsaid = [] } = attempt;
    return stayed ?? world.damage({ ...seen, forbidden: seen.forbidden.concat(unsaid) });
  } finally {
    await world.close();
  }
}
