import { inboxChecks } from "./inbox.ts";
import { leaseChecks } from "./leases.ts";
import { runChecks } from "./runs.ts";
import { sessionChecks } from "./sessions.ts";
import type { StoreUnderTest, Test } from "./under-test.ts";

/**
 * What every implementation of a gateway's store has to keep, over one machine's file or many machines' server. `open`
 * gives a fresh, empty store.
 */
export function storeConformance(test: Test, open: () => Promise<StoreUnderTest>): void {
  const suites = { inbox: inboxChecks, sessions: sessionChecks, runs: runChecks, leases: leaseChecks };
  for (const [suite, checks] of Object.entries(suites)) {
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
