import type { Suite } from "./suite.ts";
import { takeLease } from "./support.ts";

const pot = { account: "sender:ann", period: "2026-11" };

export const budgetsSuite: Suite = ({ test, expect, open }) => {
  test("a process keeps its reservations after its lease expired unnoticed", async () => {
    const { store, time } = await open();
    const ledger = store.budgets.ledger(await takeLease(store));
    await ledger.reserve("long", { micros: 100, tokens: 1_000 }, [pot]);
    time.now += 60_000;
    await ledger.reserve("next", { micros: 1, tokens: 10 }, [pot]);
    expect(await ledger.settle("long", { micros: 5, tokens: 50 })).toHaveLength(1);
    expect(await ledger.balances([pot])).toMatchObject([
      { spent: { micros: 5, tokens: 50 }, reserved: { micros: 1, tokens: 10 } },
    ]);
  });
};
