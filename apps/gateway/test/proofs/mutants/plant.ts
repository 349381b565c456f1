import { runLives } from "../crash/lives.ts";
import { seeded } from "../crash/random.ts";
import { runTakeover } from "../crash/takeover.ts";
import type { BuildCopy } from "./build-copy.ts";
import type { Mutant, Scenario } from "./mutants.ts";

/** Time limit for a gateway with a bug to come to rest, in milliseconds, if the bug keeps it from that. */
const RESTLESS_MS = 15_000;
/** Time limit for all others. Without rest nothing is checked, so a busy machine must not reach it. */
const REST_MS = 120_000;

const NO_REST = "rest: the gateway did not come to rest";

/** What is said of a gateway that went through a scenario. */
export async function violationsIn(
  { course, failing, ...scenario }: Scenario,
  main: string,
  { seed, restMs = REST_MS }: { readonly seed: number; readonly restMs?: number },
): Promise<readonly string[]> {
  const options = { random: seeded(seed), sessions: 3, main, restMs, faults: false, ...scenario };
  try {
    if (course === "takeover") return await runTakeover(options);
    const last = failing === undefined ? {} : { last: { kind: "failing", at: failing } as const };
    const { violations } = await runLives(course, { ...options, ...last });
    return violations;
  } catch (error) {
    return [`rest: ${error instanceof Error ? error.message : String(error)}`];
  }
}

export interface Found {
  /** What gave it away; undefined where it survived. */
  readonly caught: string | undefined;
  /** What else was said, where it survived. */
  readonly said: readonly string[];
}

/** Lets a bug loose, under other seeds where one does not show it. */
export async function hunt(mutant: Mutant, copy: BuildCopy, seeds: readonly number[]): Promise<Found> {
  const restore = copy.plant(mutant.edits);
  const said: string[] = [];
  const restMs = mutant.caughtBy.test(NO_REST) ? RESTLESS_MS : REST_MS;
  try {
    for (const seed of seeds) {
      const violations = await violationsIn(mutant.scenario, copy.main, { seed, restMs });
      const caught = violations.find((text) => mutant.caughtBy.test(text));
      if (caught !== undefined) return { caught, said };
      said.push(...violations);
    }
    return { caught: undefined, said };
  } finally {
    restore();
  }
}
