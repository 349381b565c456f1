import { test } from "vitest";
import { createMemoryApprovalStore } from "./approval-store.ts";
import { approvalStoreConformance } from "./testkit/index.ts";

approvalStoreConformance(test, async () => createMemoryApprovalStore());
