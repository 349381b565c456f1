import { test } from "vitest";
import { createMemoryRuns } from "../src/index.ts";
import { journalConformance } from "../src/testkit/index.ts";

journalConformance(test, async () => {
  const memory = createMemoryRuns();
  let lease = { name: "gateway", epoch: 1 };
  return {
    runs: memory.runs,
    sessions: memory.sessions,
    get lease() {
      return lease;
    },
    begin: async (sessionKey, messages) => memory.begin(sessionKey, lease, messages),
    async takeOver(runId) {
      lease = { ...lease, epoch: lease.epoch + 1 };
      memory.adopt({ runId, lease });
      return lease;
    },
    finish: async (runId) => memory.finish({ runId, lease, messages: [] }),
  };
});
