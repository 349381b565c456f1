import { openStore } from "@signalbox/store";
import type { Ledger } from "@signalbox/store/types";
import { onTestFinished } from "vitest";

/** Opens an empty ledger in memory; the test closes it. */
export async function openLedger(): Promise<Ledger> {
  const store = await openStore({ path: ":memory:", limits: { commitSpacingMs: 0 } });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("test", "test", 60_000);
  if (lease === undefined) throw new Error("The lease of a new store is taken.");
  return store.budgets.ledger(lease);
}
