import type { Ledger } from "../types/budgets.ts";
import type { Store } from "../types/store.ts";
import { acquire, type Checks, expectEqual, expectRejection } from "./under-test.ts";

const POT = { account: "agent coder", period: "2026-11-21" };
const ALL = { account: "all", period: "2026-11" };
const limit = (amount: number) => ({ unit: "micros", amount }) as const;
const micros = (amount: number) => ({ micros: amount, tokens: amount * 10 });

async function openLedger(store: Store): Promise<Ledger> {
  return store.budgets.ledger(await acquire(store));
}

export const ledgerChecks: Checks = {
  "counts a reservation, then its actual cost": async ({ store }) => {
    const ledger = await openLedger(store);
    const claims = [{ ...POT, limit: limit(100) }];
    const reserved = await ledger.reserve("a", micros(30), claims);
    expectEqual(reserved, { full: [] }, "A reservation below the limit was refused.");
    const open = { ...POT, spent: micros(0), reserved: micros(30), grants: 0 };
    expectEqual(await ledger.balances([POT]), [open], "The reservation is missing in the balance.");
    const settled = await ledger.settle("a", micros(7));
    const expected = [{ ...POT, before: micros(0), after: micros(7), grants: 0 }];
    expectEqual(settled, expected, "The settlement reports wrong amounts.");
    const after = { ...POT, spent: micros(7), reserved: micros(0), grants: 0 };
    expectEqual(await ledger.balances([POT]), [after], "The actual cost is missing in the balance.");
  },

  "admits calls below the limit and refuses them once it is reached": async ({ store }) => {
    const ledger = await openLedger(store);
    const claims = [{ ...POT, limit: limit(100) }];
    const reserve = async (id: string, amount: number) =>
      (await ledger.reserve(id, micros(amount), claims)).full;
    expectEqual(await reserve("a", 99), [], "The first call was refused.");
    expectEqual(await reserve("b", 50), [], "A call that begins below the limit was refused.");
    expectEqual(await reserve("c", 1), [0], "A call was admitted after the limit was reached.");
    await ledger.settle("b", micros(0));
    expectEqual(
      await reserve("c", 1),
      [],
      "A call was refused although the balance is below the limit again.",
    );
  },

  "reserves in every pot or in none, and returns the full claims": async ({ store }) => {
    const ledger = await openLedger(store);
    await ledger.reserve("a", micros(10), [POT]);
    const claims = [{ ...ALL, limit: limit(5) }, POT, { ...POT, limit: limit(10) }];
    const { full } = await ledger.reserve("b", micros(3), claims);
    expectEqual(full, [2], "The full claim was not returned.");
    const [all] = await ledger.balances([ALL]);
    expectEqual(all?.reserved, micros(0), "A refused call reserved in one of its pots.");
  },

  "counts a pot once, however many limits it has": async ({ store }) => {
    const ledger = await openLedger(store);
    const claims = [50, 90].map((amount) => ({ ...POT, limit: limit(amount) }));
    await ledger.reserve("a", micros(10), claims);
    const [pot] = await ledger.balances([POT]);
    expectEqual(pot?.reserved, micros(10), "The amount was reserved once for each limit.");
    expectEqual((await ledger.settle("a", micros(4))).length, 1, "The pot was settled once for each limit.");
  },

  "rejects an id in use": async ({ store }) => {
    const ledger = await openLedger(store);
    await ledger.reserve("a", micros(1), [POT]);
    await expectRejection(
      ledger.reserve("a", micros(1), [POT]),
      "conflict",
      "A reservation id was accepted twice.",
    );
  },

  "settles a reservation once": async ({ store }) => {
    const ledger = await openLedger(store);
    await ledger.reserve("a", micros(10), [POT]);
    await ledger.settle("a", micros(10));
    expectEqual(await ledger.settle("a", micros(10)), [], "A second settlement returned pots.");
    const [pot] = await ledger.balances([POT]);
    expectEqual(pot?.spent, micros(10), "The second settlement was counted.");
  },

  "grants a limit once more, for this period only": async ({ store }) => {
    const ledger = await openLedger(store);
    const next = { ...POT, period: "2026-11-22" };
    const reserve = async (id: string, pot: typeof POT, amount = 10) =>
      (await ledger.reserve(id, micros(amount), [{ ...pot, limit: limit(10) }])).full;
    await reserve("a", POT);
    await ledger.grant(POT);
    expectEqual(await reserve("b", POT), [], "The grant did not raise the limit.");
    expectEqual(await reserve("c", POT), [0], "The grant raised the limit more than once.");
    await reserve("d", next);
    expectEqual(await reserve("e", next, 1), [0], "The grant raised the limit of the next period.");
  },

  "compares in the unit of the limit": async ({ store }) => {
    const ledger = await openLedger(store);
    const claims = [{ ...POT, limit: { unit: "tokens", amount: 100 } as const }];
    await ledger.reserve("a", { micros: 1_000, tokens: 99 }, claims);
    const below = await ledger.reserve("b", { micros: 0, tokens: 1 }, claims);
    expectEqual(below.full, [], "A call below the limit in tokens was refused.");
    const reached = await ledger.reserve("c", { micros: 0, tokens: 1 }, claims);
    expectEqual(reached.full, [0], "A call was admitted after the limit in tokens was reached.");
  },

  "counts reservations of a dead process as spent": async ({ store }) => {
    const ledger = await openLedger(store);
    await ledger.reserve("a", micros(30), [POT, ALL]);
    await ledger.reserve("b", micros(5), [POT]);
    await ledger.settle("b", micros(2));
    const next = await openLedger(store);
    await next.reserve("c", micros(1), [POT]);
    const balances = await next.balances([POT, ALL]);
    const expected = [
      { ...POT, spent: micros(32), reserved: micros(1), grants: 0 },
      { ...ALL, spent: micros(30), reserved: micros(0), grants: 0 },
    ];
    expectEqual(balances, expected, "The reservation of the dead process does not count as spent.");
    const late = ledger.reserve("d", micros(1), [POT]);
    await expectRejection(late, "fenced", "A process that lost its lease reserved an amount.");
    expectEqual(await next.settle("a", micros(1)), [], "A reservation was settled twice.");
  },
};
