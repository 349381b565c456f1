import { describe, expect, it } from "vitest";
import { type Budget, BudgetError, type BudgetNews, createMemoryLedger, createMeter } from "../src/index.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const CODER = { agent: "coder", role: "system" };
const DAILY: Budget = {
  of: "agent",
  per: "day",
  limit: { unit: "tokens", amount: 100 },
  warnAt: 0.5,
  whenUsedUp: { action: "stop" },
};

function meterWith(budgets: readonly Budget[]) {
  const news: BudgetNews["kind"][] = [];
  let ids = 0;
  const meter = createMeter({
    budgets: () => budgets,
    ledger: createMemoryLedger(),
    pricesOf: () => undefined,
    cheaper: () => undefined,
    onNews: ({ kind }) => void news.push(kind),
    onProblem: (error) => expect.unreachable(String(error)),
    now: () => NOON,
    newId: () => `${++ids}`,
  });
  const pay = (most: number, cost = most) =>
    meter.pay(CODER, { tokens: most, micros: 0 }, async () => ({
      value: "made",
      amount: { tokens: cost, micros: 0 },
    }));
  return { meter, pay, news };
}

describe("a call that is no answer", () => {
  it("counts for what it came to, and is not made once that is used up", async () => {
    const { pay, news } = meterWith([DAILY]);
    expect(await pay(90, 60)).toBe("made");
    expect(await pay(90, 45)).toBe("made");
    await expect(pay(1)).rejects.toThrow(BudgetError);
    expect(news).toEqual(["low", "used-up", "refused"]);
  });

  it.each(["ask", "warn"] as const)(
    "has nobody to ask, and is made where a budget only warns: %s",
    async (action) => {
      const { pay } = meterWith([{ ...DAILY, whenUsedUp: { action } }]);
      await pay(200);
      const again = pay(1).catch((error: unknown) => error);
      expect(await again).toEqual(action === "warn" ? "made" : expect.any(BudgetError));
    },
  );

  it("that fails costs nothing, and one without a budget is simply made", async () => {
    const { meter, pay } = meterWith([DAILY]);
    const failing = () => Promise.reject(new Error("it answered with status 500"));
    for (let at = 0; at < 5; at++)
      await expect(meter.pay(CODER, { tokens: 90, micros: 0 }, failing)).rejects.toThrow("status 500");
    expect(await pay(90)).toBe("made");
    expect(await meterWith([]).pay(1_000_000)).toBe("made");
  });
});
