import { setTimeout as sleep } from "node:timers/promises";
import { check } from "../crash/check.ts";
import type { Verdict } from "../crash/judge.ts";
import type { Random } from "../crash/random.ts";
import { DISTURBANCES, type Disturbance, disturb, type Outcome } from "./disturb.ts";
import { dumpWorld } from "./dump.ts";
import { type ClusterOptions, openCluster } from "./world.ts";

/** Disturbances of one round. Twenty rounds are the whole proof. */
const ROUND: Readonly<Record<Disturbance, number>> = {
  kill: 25,
  stop: 5,
  "black hole": 3,
  "late commit": 2,
  "lost commits": 5,
  "slow network": 2,
  restart: 1,
  outage: 1,
  promotion: 1,
  "rolling restart": 1,
};

/** Longest pause between two disturbances, in milliseconds. */
const PAUSE_MS = 1_000;

export interface ClusterReport {
  /** A sentence for each broken promise. */
  readonly violations: readonly string[];
  /** Messages that were acknowledged. */
  readonly messages: number;
  readonly replies: number;
  readonly poisoned: number;
  /** Tool calls with an unknown outcome. */
  readonly unknown: number;
  /** Commits whose answer was lost. */
  readonly lostCommits: number;
  /**
   * Times until everything was taken over, in milliseconds. After a failure of the database: until all leases were
   * renewed.
   */
  readonly takeovers: ReadonlyMap<Disturbance, readonly number[]>;
  /** The folder with the state of the world, if a promise was broken and `dumps` is true. */
  readonly dump: string | undefined;
}

interface CourseOptions extends ClusterOptions {
  readonly progress?: (what: Disturbance, outcome: Outcome) => void;
  /** True if a world with a broken promise is written to a folder that is kept. Default: false. */
  readonly dumps?: boolean;
}

/** Returns the disturbances of some rounds in an order that the seed decides. */
export function planCourse(random: Random, rounds: number): Disturbance[] {
  const left = DISTURBANCES.flatMap((what) => Array.from({ length: ROUND[what] * rounds }, () => what));
  const course: Disturbance[] = [];
  while (left.length > 0) course.push(...left.splice(random.int(0, left.length - 1), 1));
  return course;
}

/** Disturbs one cluster while people write, lets it come to rest, and judges everything that happened. */
export async function runCourse(
  course: readonly Disturbance[],
  options: CourseOptions,
): Promise<ClusterReport> {
  const { random } = options;
  const world = await openCluster(options);
  const violations: string[] = [];
  const takeovers = new Map<Disturbance, number[]>();
  try {
    const verdict = await disturbAll();
    violations.push(...world.unexpected, ...(verdict?.violations ?? []));
    const dump = violations.length > 0 && options.dumps === true ? await dumpWorld(world) : undefined;
    return {
      violations,
      messages: verdict?.messages ?? world.platform.acknowledged.length,
      replies: verdict?.replies ?? 0,
      poisoned: verdict?.poisoned ?? 0,
      unknown: verdict?.unknown ?? 0,
      lostCommits: world.nodes.reduce((sum, { proxy }) => sum + proxy.lostCommits, 0),
      takeovers,
      dump,
    };
  } finally {
    await world.close();
  }

  /** Returns undefined if the world did not come to rest, so that it cannot be judged. */
  async function disturbAll(): Promise<Verdict | undefined> {
    try {
      await world.startAll();
      for (const what of course) {
        await sleep(random.int(0, PAUSE_MS));
        const outcome = await disturb(what, world, random);
        takeovers.set(what, [...(takeovers.get(what) ?? []), ...outcome.takeovers.map(({ ms }) => ms)]);
        violations.push(...outcome.violations);
        options.progress?.(what, outcome);
      }
      await world.settle();
      return await check(world);
    } catch (error) {
      violations.push(`rest: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
}
