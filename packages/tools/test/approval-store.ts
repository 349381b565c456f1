import { openStore } from "@signalbox/store";
import type { Bodies } from "@signalbox/store/types";
import type { Approval, ApprovalStore } from "../src/index.ts";

interface TestBodies extends Bodies {
  readonly approval: Approval;
}

/** Returns the approvals of a new SQLite store in memory. */
export function createTestApprovals(): ApprovalStore {
  const store = openStore<TestBodies>({ path: ":memory:" });
  const approvals = store.then((opened) => opened.approvals);
  return {
    ask: async (...args) => (await approvals).ask(...args),
    get: async (...args) => (await approvals).get(...args),
    change: async (...args) => (await approvals).change(...args),
    list: async (...args) => (await approvals).list(...args),
  };
}
