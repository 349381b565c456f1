import { test } from "vitest";
import { createMemoryLedger } from "../src/index.ts";
import { ledgerConformance } from "../src/testkit/index.ts";

ledgerConformance(test, async () => ({ ledger: createMemoryLedger() }));
