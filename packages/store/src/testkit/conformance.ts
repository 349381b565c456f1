import { inboxSuite } from "./inbox.ts";
import { leaseSuite } from "./leases.ts";
import { runSuite } from "./runs.ts";
import { sessionSuite } from "./sessions.ts";
import type { Check, StoreUnderTest, Test } from "./under-test.ts";

/**
 * What every implementation of a gateway's store has to keep, over one machine's file or many machines' server. `open`
 * gives a fresh, empty store.
 */
export function storeConformance(test: Test, open: () => Promise<StoreUnderTest>): void {
  const suites: Readonly<Record<string, (check: Check) => void>> = {
    inbox: inboxSuite,
    sessions: sessionSuite,
    runs: runSuite,
    leases: leaseSuite,
  };
  for (const [name, suite] of Object.entries(suites)) {
    suite((sentence, run) =>
      test(`${name}: ${sentence}`, async () => {
        const under = await open();
        try {
          await run(under);
        } finally {
          await under.store.close();
        }
      }),
    );
  }
}
