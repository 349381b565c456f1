import assert from "node:assert/strict";
import type { Ledger } from "../types/budgets.ts";

/** A runner's `test`, such as Vitest's. */
type Test = (name: string, run: () => Promise<void>) => void;

export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /**
   * Ends the process that `ledger` is of, as a kill would, and gives the ledger
   * of the next. Where there is such a thing.
   */
  readonly takeOver?: () => Promise<Ledger>;
}

const POT = { account: "agent coder", period: "2026-11-21" };
const ALL = { account: "all", period: "2026-11" };
const limit = (amount: number) => ({ unit: "micros", amount }) as const;
const micros = (amount: number) => ({ micros: amount, tokens: amount * 10 });

const CHECKS: Readonly<
  Record<string, (ledger: Ledger, takeOver: LedgerUnderTest["takeOver"]) => Promise<void>>
> = {
  "counts what was reserved, and then what it came to": async (ledger) => {
    assert.deepEqual(await ledger.reserve("a", micros(30), [{ ...POT, limit: limit(100) }]), { full: [] });
    const [open] = await ledger.balances([POT]);
    assert.deepEqual(open, { ...POT, spent: micros(0), reserved: micros(30), grants: 0 });
    const settled = await ledger.settle("a", micros(7));
    assert.deepEqual(settled, [{ ...POT, before: micros(0), after: micros(7), grants: 0 }]);
    const [after] = await ledger.balances([POT]);
    assert.deepEqual(after, { ...POT, spent: micros(7), reserved: micros(0), grants: 0 });
  },

  "lets through what begins below its limit, and nothing from there on": async (ledger) => {
    const claims = [{ ...POT, limit: limit(100) }];
    assert.deepEqual(await ledger.reserve("a", micros(99), claims), { full: [] });
    assert.deepEqual(await ledger.reserve("b", micros(50), claims), { full: [] });
    assert.deepEqual(await ledger.reserve("c", micros(1), claims), { full: [0] });
    await ledger.settle("b", micros(0));
    assert.deepEqual(await ledger.reserve("c", micros(1), claims), { full: [] });
  },

  "reserves everywhere or nowhere, and says which claims are full": async (ledger) => {
    await ledger.reserve("a", micros(10), [{ ...POT }]);
    const claims = [{ ...ALL, limit: limit(5) }, { ...POT }, { ...POT, limit: limit(10) }];
    assert.deepEqual(await ledger.reserve("b", micros(3), claims), { full: [2] });
    assert.deepEqual((await ledger.balances([ALL]))[0]?.reserved, micros(0));
  },

  "counts a pot once, however many limits it has": async (ledger) => {
    await ledger.reserve("a", micros(10), [
      { ...POT, limit: limit(50) },
      { ...POT, limit: limit(90) },
    ]);
    assert.deepEqual((await ledger.balances([POT]))[0]?.reserved, micros(10));
    assert.equal((await ledger.settle("a", micros(4))).length, 1);
  },

  "refuses an id that is in use": async (ledger) => {
    await ledger.reserve("a", micros(1), [POT]);
    await assert.rejects(ledger.reserve("a", micros(1), [POT]));
  },

  "settles once": async (ledger) => {
    await ledger.reserve("a", micros(10), [POT]);
    await ledger.settle("a", micros(10));
    assert.deepEqual(await ledger.settle("a", micros(10)), []);
    assert.deepEqual((await ledger.balances([POT]))[0]?.spent, micros(10));
  },

  "grants a limit once more, in this period alone": async (ledger) => {
    const next = { ...POT, period: "2026-11-22" };
    const at = (pot: typeof POT) => [{ ...pot, limit: limit(10) }];
    await ledger.reserve("a", micros(10), at(POT));
    await ledger.grant(POT);
    assert.deepEqual(await ledger.reserve("b", micros(10), at(POT)), { full: [] });
    assert.deepEqual(await ledger.reserve("c", micros(10), at(POT)), { full: [0] });
    await ledger.reserve("d", micros(10), at(next));
    assert.deepEqual(await ledger.reserve("e", micros(1), at(next)), { full: [0] });
  },

  "is exact in the unit that is asked for": async (ledger) => {
    const tokens = { unit: "tokens", amount: 100 } as const;
    await ledger.reserve("a", { micros: 1_000, tokens: 99 }, [{ ...POT, limit: tokens }]);
    assert.deepEqual(await ledger.reserve("b", { micros: 0, tokens: 1 }, [{ ...POT, limit: tokens }]), {
      full: [],
    });
    assert.deepEqual(await ledger.reserve("c", { micros: 0, tokens: 1 }, [{ ...POT, limit: tokens }]), {
      full: [0],
    });
  },

  "counts as spent what a process has reserved that is gone": async (ledger, takeOver) => {
    if (takeOver === undefined) return;
    await ledger.reserve("a", micros(30), [POT, ALL]);
    await ledger.reserve("b", micros(5), [POT]);
    await ledger.settle("b", micros(2));
    const next = await takeOver();
    await next.reserve("c", micros(1), [POT]);
    const [pot, all] = await next.balances([POT, ALL]);
    assert.deepEqual(pot, { ...POT, spent: micros(32), reserved: micros(1), grants: 0 });
    assert.deepEqual(all, { ...ALL, spent: micros(30), reserved: micros(0), grants: 0 });
    await assert.rejects(ledger.reserve("d", micros(1), [POT]), "the process before may reserve no more");
    assert.deepEqual(await next.settle("a", micros(1)), [], "it is settled already");
  },
};

/** What every {@link Ledger} has to keep. `open` gives a fresh, empty one. */
export function ledgerConformance(test: Test, open: () => Promise<LedgerUnderTest>): void {
  for (const [name, check] of Object.entries(CHECKS))
    test(`a ledger ${name}`, async () => {
      const { ledger, takeOver } = await open();
      await check(ledger, takeOver);
    });
}
