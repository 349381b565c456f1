import { budgetsSuite } from "./budgets.ts";
import { contextsSuite } from "./contexts.ts";
import { eraseSuite } from "./erase.ts";
import { groupHistorySuite } from "./group-history.ts";
import { inboxSuite } from "./inbox.ts";
import { kvSuite } from "./kv.ts";
import { leasesSuite } from "./leases.ts";
import { maintenanceSuite } from "./maintenance.ts";
import { nodesSuite } from "./nodes.ts";
import { outboxSuite } from "./outbox.ts";
import { pairingSuite } from "./pairing.ts";
import { runsSuite } from "./runs.ts";
import { sessionsSuite } from "./sessions.ts";
import type { SuiteRunner } from "./suite.ts";
import { usageSuite } from "./usage.ts";

const SUITES = [
  budgetsSuite,
  contextsSuite,
  eraseSuite,
  groupHistorySuite,
  inboxSuite,
  kvSuite,
  leasesSuite,
  maintenanceSuite,
  nodesSuite,
  outboxSuite,
  pairingSuite,
  runsSuite,
  sessionsSuite,
  usageSuite,
];

/**
 * Declares the detailed tests of everything that does not depend on the database. `storeConformance` has the tests of
 * the contracts.
 */
export function storeSuites(runner: SuiteRunner): void {
  for (const suite of SUITES) suite(runner);
}
