import { seeded } from "../crash/random.ts";
import type { BuildCopy } from "../mutants/build-copy.ts";
import type { Edit } from "../mutants/mutants.ts";
import { runCourse } from "./course.ts";
import type { DatabaseServer } from "./database.ts";
import type { Disturbance } from "./disturb.ts";

/** A fault that breaks a promise of the cluster. */
interface PlantedFault {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The disturbances that show it. */
  readonly course: readonly Disturbance[];
  /** Duration of leases, in milliseconds. Default: that of the gateway. */
  readonly leaseMs?: number;
  /** The violation that must be reported. */
  readonly caughtBy: RegExp;
}

const STORE = "packages/store-postgres/src";

export const FAULTS: readonly PlantedFault[] = [
  {
    name: "checks leases without a lock",
    edits: [{ file: `${STORE}/run-rows.ts`, from: '    .for("update");\n', to: "    ;\n" }],
    course: Array.from({ length: 5 }, () => "late commit"),
    leaseMs: 1_500,
    caughtBy: /^(fence|duplicate):/,
  },
  {
    name: "judges leases by the clock of the node",
    edits: [
      {
        file: `${STORE}/database.ts`,
        from: "clock === undefined ? TRANSACTION_TIME : sql<number>`${clock()}::bigint`",
        to: "sql<number>`${Date.now()}::bigint`",
      },
      { file: `${STORE}/transaction.ts`, from: "clock?.() ?? row?.at ?? Number.NaN", to: "Date.now()" },
    ],
    course: ["slow network", "slow network"],
    caughtBy: /^ended:/,
  },
  {
    name: "relies on hints and does not poll",
    edits: [
      {
        file: "apps/gateway/src/maintenance/neighbors.ts",
        from: `        setInterval(() => agents.request(), AGENTS_MS).unref(),
        setInterval(() => work.request(), WORK_MS).unref(),
`,
        to: "",
      },
    ],
    course: ["stop"],
    caughtBy: /^takeover: nobody took/,
  },
  {
    name: "takes over without grace after an outage of the database",
    edits: [
      {
        file: "packages/home/src/held-leases.ts",
        from: "isRecovering: () => now() - renewedAt > leaseMs || now() < recoveringUntil,",
        to: "isRecovering: () => false,",
      },
    ],
    course: ["outage", "outage", "outage"],
    caughtBy: /^ended:/,
  },
  {
    name: "treats a lost answer to a commit as a failure",
    edits: [
      {
        file: `${STORE}/database.ts`,
        from: "if (isLost && !(await wasCommitted(pool, await id)))",
        to: "if (isLost)",
      },
    ],
    course: Array.from({ length: 6 }, () => "lost commits"),
    caughtBy: /^(rest|ended|duplicate|lost|twice|state|open):/,
  },
];

/** A gateway with a fault comes to rest late or never. One without a fault needs much less time. */
const REST_MS = 60_000;

/** Runs the scenario of a fault and returns the violations. */
async function violationsIn(
  { course, leaseMs }: PlantedFault,
  { server, main, seed }: { readonly server: DatabaseServer; readonly main: string; readonly seed: number },
): Promise<readonly string[]> {
  const { violations } = await runCourse(course, {
    random: seeded(seed),
    server,
    sessions: 4,
    pauseMs: 300,
    mode: "followup",
    restMs: REST_MS,
    main,
    // A slow machine cannot always renew a short lease in time.
    ...(leaseMs === undefined ? {} : { leaseMs, mayLoseLeases: true }),
  });
  return violations;
}

/** The result of the search for a planted fault. */
interface Hunt {
  /** The violation that shows the fault, if any. */
  readonly caught: string | undefined;
  /** Other violations of the cluster with the fault. */
  readonly others: readonly string[];
  /** Violations of the cluster without the fault, with the same seed. */
  readonly baseline: readonly string[];
}

/**
 * Plants a fault, and returns the violation that shows it, if any. First runs the same plan with the same seed without
 * the fault: a violation counts only if that run had none.
 */
export async function hunt(
  fault: PlantedFault,
  copy: BuildCopy,
  { server, seeds }: { readonly server: DatabaseServer; readonly seeds: readonly number[] },
): Promise<Hunt> {
  const others: string[] = [];
  const baseline: string[] = [];
  for (const seed of seeds) {
    const before = await violationsIn(fault, { server, main: copy.main, seed });
    baseline.push(...before);
    if (before.length > 0) continue;
    const restore = copy.plant(fault.edits);
    try {
      const violations = await violationsIn(fault, { server, main: copy.main, seed });
      const caught = violations.find((text) => fault.caughtBy.test(text));
      if (caught !== undefined) return { caught, others, baseline };
      others.push(...violations);
    } finally {
      restore();
    }
  }
  return { caught: undefined, others, baseline };
}
