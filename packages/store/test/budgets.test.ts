import Sqlite from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { takeLease, testStore } from "./support.ts";

test("the balances of a period take at most two queries", async () => {
  const { store } = await testStore();
  const ledger = store.budgets.ledger(await takeLease(store));
  const accounts = Array.from({ length: 50 }, (_, i) => `sender:${100 + i}`);
  for (const account of accounts) {
    await ledger.reserve(account, { micros: 10, tokens: 100 }, [{ account, period: "2026-11" }]);
    if (account < "sender:120") await ledger.settle(account, { micros: 3, tokens: 30 });
  }
  await ledger.reserve("today", { micros: 1, tokens: 1 }, [{ account: "sender:100", period: "2026-11-21" }]);
  const memory = new Sqlite(":memory:");
  const statement: Sqlite.Statement = Object.getPrototypeOf(memory.prepare("SELECT 1"));
  const calls = [vi.spyOn(statement, "all"), vi.spyOn(statement, "get")];
  const balances = await store.budgets.inPeriods(["2026-11"]);
  const queries = calls.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  vi.restoreAllMocks();
  expect(balances.map(({ account }) => account)).toEqual(accounts);
  expect([balances[0], balances[49]]).toEqual([
    {
      account: "sender:100",
      period: "2026-11",
      spent: { micros: 3, tokens: 30 },
      reserved: { micros: 0, tokens: 0 },
      grants: 0,
    },
    {
      account: "sender:149",
      period: "2026-11",
      spent: { micros: 0, tokens: 0 },
      reserved: { micros: 10, tokens: 100 },
      grants: 0,
    },
  ]);
  expect(queries).toBeGreaterThan(0);
  expect(queries).toBeLessThan(5);
});
