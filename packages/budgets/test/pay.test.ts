import { describe, expect, it } from "vitest";
import { type Budget, BudgetError, type BudgetNotice, createMeter } from "../src/index.ts";
import { openLedger } from "./open-ledger.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const CODER = { agent: "coder", role: "system" };
const DAILY: Budget = {
  of: "agent",
  per: "day",
  limit: { unit: "tokens", amount: 100 },
  warnAt: 0.5,
  whenUsedUp: { action: "stop" },
};

async function meterWith(budgets: readonly Budget[]) {
  const notices: BudgetNotice["kind"][] = [];
  const meter = createMeter({
    budgets: () => budgets,
    ledger: await openLedger(),
    getPrices: () => undefined,
    onNotice: ({ kind }) => void notices.push(kind),
    onProblem: (error) => expect.unreachable(String(error)),
    now: () => NOON,
  });
  const pay = (most: number, cost = most) =>
    meter.pay(CODER, { tokens: most, micros: 0 }, async () => ({
      value: "made",
      amount: { tokens: cost, micros: 0 },
    }));
  return { meter, pay, notices };
}

describe("pay", () => {
  it("charges the actual cost and refuses calls once the budget is used up", async () => {
    const { pay, notices } = await meterWith([DAILY]);
    expect(await pay(90, 60)).toBe("made");
    expect(await pay(90, 45)).toBe("made");
    await expect(pay(1)).rejects.toThrow(BudgetError);
    expect(notices).toEqual(["low", "used_up", "refused"]);
  });

  it.each(["ask", "warn"] as const)(
    "asks no one, and makes the call if the budget only warns: %s",
    async (action) => {
      const { pay } = await meterWith([{ ...DAILY, whenUsedUp: { action } }]);
      await pay(200);
      const again = pay(1).catch((error: unknown) => error);
      expect(await again).toEqual(action === "warn" ? "made" : expect.any(BudgetError));
    },
  );

  it("charges nothing for a call that rejects, and makes a call without budgets", async () => {
    const { meter, pay } = await meterWith([DAILY]);
    const failing = () => Promise.reject(new Error("it answered with status 500"));
    for (let at = 0; at < 5; at++)
      await expect(meter.pay(CODER, { tokens: 90, micros: 0 }, failing)).rejects.toThrow("status 500");
    expect(await pay(90)).toBe("made");
    expect(await (await meterWith([])).pay(1_000_000)).toBe("made");
  });
});
