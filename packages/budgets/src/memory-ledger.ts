import type { Amount, Pot } from "./budget.ts";
import { distinctPots, fullClaims, isSamePot, type Ledger, NOTHING, sum } from "./ledger.ts";

/** A ledger that lasts as long as its process, for tests and for hosts that need no other. */
export function createMemoryLedger(): Ledger {
  const spent = new Map<string, { amount: Amount; grants: number }>();
  const reservations = new Map<string, { readonly amount: Amount; readonly pots: readonly Pot[] }>();

  const entryOf = (pot: Pot) => spent.get(keyOf(pot)) ?? { amount: NOTHING, grants: 0 };
  const balanceOf = (pot: Pot) => {
    const { amount, grants } = entryOf(pot);
    const open = [...reservations.values()].filter(({ pots }) => pots.some((other) => isSamePot(other, pot)));
    return { ...pot, spent: amount, grants, reserved: open.map(({ amount }) => amount).reduce(sum, NOTHING) };
  };

  return {
    async reserve(id, amount, claims) {
      if (reservations.has(id)) throw new Error(`There is a reservation ${id} already.`);
      const full = fullClaims(claims, balanceOf);
      if (full.length === 0) reservations.set(id, { amount, pots: distinctPots(claims) });
      return { full };
    },
    async settle(id, amount) {
      const { pots } = reservations.get(id) ?? { pots: [] };
      reservations.delete(id);
      return pots.map((pot) => {
        const { amount: before, grants } = entryOf(pot);
        const after = sum(before, amount);
        spent.set(keyOf(pot), { amount: after, grants });
        return { ...pot, before, after, grants };
      });
    },
    async grant(pot) {
      const { amount, grants } = entryOf(pot);
      spent.set(keyOf(pot), { amount, grants: grants + 1 });
    },
    async balances(pots) {
      return pots.map(({ account, period }) => balanceOf({ account, period }));
    },
  };
}

function keyOf({ account, period }: Pot): string {
  return JSON.stringify([account, period]);
}
