import { accessChecks } from "./access.ts";
import { approvalChecks } from "./approvals.ts";
import { auditChecks } from "./audit.ts";
import { inboxChecks } from "./inbox.ts";
import { leaseChecks } from "./leases.ts";
import { ledgerChecks } from "./ledger.ts";
import { outboxChecks } from "./outbox.ts";
import { routeChecks } from "./routes.ts";
import { runChecks } from "./runs.ts";
import { sessionChecks } from "./sessions.ts";
import type { Checks, StoreUnderTest, Test } from "./under-test.ts";

const SUITES: Readonly<Record<string, Checks>> = {
  access: accessChecks,
  approvals: approvalChecks,
  audit: auditChecks,
  inbox: inboxChecks,
  leases: leaseChecks,
  ledger: ledgerChecks,
  outbox: outboxChecks,
  routes: routeChecks,
  runs: runChecks,
  sessions: sessionChecks,
};

/**
 * Declares a test for everything that an implementation of the store's contracts has to guarantee.
 *
 * @param test the `test` function of your runner
 * @param open opens a fresh, empty store; called once for each test
 *
 * @example
 * storeConformance(test, async () => {
 *   const time = { now: Date.now() };
 *   const store = await openMyStore({ clock: () => time.now });
 *   return { store, now: () => time.now, advance: (ms) => void (time.now += ms) };
 * });
 */
export function storeConformance(test: Test, open: () => Promise<StoreUnderTest>): void {
  for (const [suite, checks] of Object.entries(SUITES)) {
    for (const [name, check] of Object.entries(checks))
      test(`${suite}: ${name}`, async () => {
        const under = await open();
        try {
          await check(under);
        } finally {
          await under.store.close();
        }
      });
  }
}
