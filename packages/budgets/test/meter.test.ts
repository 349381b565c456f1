import { setImmediate } from "node:timers/promises";
import type { Model, ModelContext, ModelEvent, StreamModel, Usage } from "@signalbox/agent-core";
import { assistantMessage, scriptedModel, toEvents } from "@signalbox/agent-core/test";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AskForGrant,
  type Budget,
  type BudgetNotice,
  createMeter,
  type MeteredModel,
  type MeterOptions,
} from "../src/index.ts";
import { openLedger } from "./open-ledger.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const PRICES = { input: 1_000_000, output: 10_000_000, checked: "2026-11-22" };
const MODEL: Model = {
  id: "large",
  provider: "test",
  api: "test",
  contextWindow: 100_000,
  maxOutputTokens: 100,
  input: ["text"],
  thinking: [],
  tools: "native",
  prices: PRICES,
};
const CONTEXT: ModelContext = {
  system: { stable: "You help." },
  messages: [{ role: "user", content: "Hello", timestamp: NOON }],
  tools: [],
};
const ANN = { agent: "coder", sender: "feishu:ann", channel: "feishu", role: "member" };
const DAILY: Budget = {
  of: "sender",
  per: "day",
  limit: { unit: "micros", amount: 2_000 },
  warnAt: 0.8,
  whenUsedUp: { action: "stop" },
};
const ALL_POT = { account: "sender feishu:ann", period: "2026-11-22" };

function usage(costMicros: number, tokens = costMicros): Usage {
  return {
    input: { total: tokens, uncached: tokens, cacheRead: 0, cacheWrite: 0 },
    output: { total: 0, reasoning: 0 },
    source: "reported",
    costMicros,
  };
}

/** A meter with an empty ledger, and the notices that it sends. */
async function meterWith(budgets: readonly Budget[], options: Partial<MeterOptions> = {}) {
  const ledger = await openLedger();
  const notices: BudgetNotice[] = [];
  const meter = createMeter({
    budgets: () => budgets,
    ledger,
    getPrices: ({ prices }) => prices,
    onNotice: (notice) => notices.push(notice),
    onProblem: (error) => {
      throw error;
    },
    now: () => NOON,
    ...options,
  });
  return { meter, ledger, notices, kinds: () => notices.map(({ kind }) => kind) };
}

/** A model whose calls cost these amounts, in order. */
function costing(...micros: readonly number[]): MeteredModel & { readonly calls: () => number } {
  const scripted = scriptedModel(...micros.map((cost) => assistantMessage("Done.", { usage: usage(cost) })));
  return { model: MODEL, fallbacks: [], stream: scripted.stream, calls: () => scripted.requests.length };
}

async function call(stream: StreamModel, context = CONTEXT): Promise<ModelEvent> {
  let last: ModelEvent | undefined;
  for await (const event of stream(MODEL, context, {})) last = event;
  if (last === undefined) throw new Error("no event");
  return last;
}

const codeOf = (event: ModelEvent) => (event.type === "error" ? event.error.code : event.type);

test("calls are made until the budget is used up and refused afterwards", async () => {
  const { meter, kinds } = await meterWith([DAILY]);
  const model = costing(900);
  const stream = meter.stream(ANN, model);
  const ends = [await call(stream), await call(stream), await call(stream), await call(stream)];
  expect(ends.map(codeOf)).toEqual(["finish", "finish", "finish", "budget"]);
  expect(model.calls()).toBe(3);
  expect(kinds()).toEqual(["low", "used_up", "refused"]);
  const last = ends.at(-1);
  expect(last?.type === "error" && last.error.message).toBe(
    "Your budget for this day is used up. It resets at 2026-11-23 00:00 UTC.",
  );
});

test("a budget of 0 refuses every call and announces no reset", async () => {
  const { meter } = await meterWith([{ ...DAILY, limit: { ...DAILY.limit, amount: 0 } }]);
  const model = costing(900);
  const refused = await call(meter.stream(ANN, model));
  expect(model.calls()).toBe(0);
  expect(refused).toMatchObject({
    error: { code: "budget", message: expect.stringMatching(/^The budget is 0/) },
  });
});

test("senders, agents and channels have separate budgets, and a budget with roles counts only for those", async () => {
  const stop = (of: Budget["of"], more: Partial<Budget> = {}): Budget => ({ ...DAILY, of, ...more });
  const spent = async (budget: Budget, one: typeof ANN, other: typeof ANN) => {
    const { meter } = await meterWith([budget]);
    const model = costing(5_000);
    await call(meter.stream(one, model));
    return codeOf(await call(meter.stream(other, model)));
  };
  const bob = { ...ANN, sender: "feishu:bob" };
  expect(await spent(stop("sender"), ANN, bob)).toBe("finish");
  expect(await spent(stop("agent"), ANN, bob)).toBe("budget");
  expect(await spent(stop("agent"), ANN, { ...bob, agent: "writer" })).toBe("finish");
  expect(await spent(stop("channel"), ANN, { ...bob, agent: "writer" })).toBe("budget");
  expect(await spent(stop("channel"), ANN, { ...ANN, channel: "slack" })).toBe("finish");
  expect(await spent(stop("all"), ANN, { ...bob, agent: "writer", channel: "slack" })).toBe("budget");
  expect(await spent(stop("agent", { name: "writer" }), ANN, ANN)).toBe("finish");
  expect(await spent(stop("agent", { roles: ["guest"] }), ANN, ANN)).toBe("finish");
});

test("a daily budget resets the next day while a monthly one continues", async () => {
  let now = NOON;
  const monthly: Budget = { ...DAILY, per: "month", limit: { unit: "micros", amount: 9_000 } };
  const { meter } = await meterWith([DAILY, monthly], { now: () => now });
  const stream = meter.stream(ANN, costing(5_000));
  expect(codeOf(await call(stream))).toBe("finish");
  expect(codeOf(await call(stream))).toBe("budget");
  now += 86_400_000;
  expect(codeOf(await call(stream))).toBe("finish");
  now += 86_400_000;
  expect(codeOf(await call(stream))).toBe("budget");
});

test("a budget with the action warn refuses nothing and sends one notice", async () => {
  const { meter, kinds } = await meterWith([{ ...DAILY, whenUsedUp: { action: "warn" } }]);
  const stream = meter.stream(ANN, costing(3_000));
  expect([codeOf(await call(stream)), codeOf(await call(stream))]).toEqual(["finish", "finish"]);
  expect(kinds()).toEqual(["used_up"]);
});

test("a cheaper model answers once the budget is used up, within the limits of other budgets", async () => {
  const cheaper = costing(100);
  const hard: Budget = { ...DAILY, limit: { unit: "micros", amount: 3_100 } };
  const soft: Budget = { ...DAILY, whenUsedUp: { action: "cheaper", model: "test/small" } };
  const { meter, kinds } = await meterWith([soft, hard], { cheaper: () => cheaper });
  const dear = costing(3_000);
  const stream = meter.stream(ANN, dear);
  expect([await call(stream), await call(stream), await call(stream)].map(codeOf)).toEqual([
    "finish",
    "finish",
    "budget",
  ]);
  expect([dear.calls(), cheaper.calls()]).toEqual([1, 1]);
  expect(kinds()).toEqual(["used_up", "low", "cheaper", "used_up", "refused"]);
});

test("a call that does not fit the cheaper model is refused as an overflow with that model's window", async () => {
  const small = costing(100, 100);
  const cheaper = { ...small, model: { ...MODEL, id: "small", contextWindow: 1_000 } };
  const { meter, ledger, kinds } = await meterWith(
    [{ ...DAILY, whenUsedUp: { action: "cheaper", model: "test/small" } }],
    { cheaper: () => cheaper },
  );
  const stream = meter.stream(ANN, costing(3_000));
  await call(stream);
  const long = { ...CONTEXT, system: { stable: "word ".repeat(1_000) } };
  expect(await call(stream, long)).toMatchObject({
    type: "error",
    error: { code: "overflow", contextWindow: 1_000 },
  });
  expect([small.calls(), kinds()]).toEqual([0, ["used_up"]]);
  expect(await ledger.balances([ALL_POT])).toMatchObject([{ reserved: { micros: 0 } }]);
  expect(codeOf(await call(stream))).toBe("finish");
});

test("an owner may grant the budget once more; without an owner to ask the call is refused", async () => {
  const { meter } = await meterWith([{ ...DAILY, whenUsedUp: { action: "ask" } }]);
  const model = costing(2_000);
  const answers = [true, false];
  const asked: string[] = [];
  const ask: AskForGrant = async ({ budget }) => {
    asked.push(budget.of);
    return answers.shift() ?? false;
  };
  const stream = meter.stream(ANN, model, ask);
  expect([await call(stream), await call(stream), await call(stream)].map(codeOf)).toEqual([
    "finish",
    "finish",
    "budget",
  ]);
  expect(asked).toEqual(["sender", "sender"]);
  expect(codeOf(await call(meter.stream(ANN, model)))).toBe("budget");
});

test("a grant that arrives after its period ended adds nothing to the next period", async () => {
  let now = NOON;
  const { meter, ledger } = await meterWith([{ ...DAILY, whenUsedUp: { action: "ask" } }], {
    now: () => now,
  });
  const stream = meter.stream(ANN, costing(2_000), async () => {
    now += 24 * 60 * 60_000;
    return true;
  });
  expect([await call(stream), await call(stream)].map(codeOf)).toEqual(["finish", "finish"]);
  expect(await ledger.balances([ALL_POT, { ...ALL_POT, period: "2026-11-23" }])).toMatchObject([
    { spent: { micros: 2_000 }, grants: 0 },
    { spent: { micros: 2_000 }, grants: 0 },
  ]);
});

test.each([
  ["returns false", async () => false],
  ["rejects", () => Promise.reject(new Error("it ended"))],
])("a call aborted while an owner is asked ends as aborted, not as refused, if asking %s", async (_, end) => {
  const asking: Budget = { ...DAILY, limit: { unit: "micros", amount: 0 }, whenUsedUp: { action: "ask" } };
  const { meter, notices } = await meterWith([asking]);
  const model = costing(1);
  const stopping = new AbortController();
  const ask: AskForGrant = () => {
    stopping.abort();
    return end();
  };
  const events: ModelEvent[] = [];
  for await (const event of meter.stream(ANN, model, ask)(MODEL, CONTEXT, { signal: stopping.signal }))
    events.push(event);
  expect(events).toMatchObject([{ error: { code: "aborted" }, partial: { stopReason: "aborted" } }]);
  expect([notices, model.calls()]).toEqual([[], 0]);
});

test("a budget may limit tokens", async () => {
  const { meter, ledger } = await meterWith([{ ...DAILY, limit: { unit: "tokens", amount: 1_000 } }]);
  const message = assistantMessage("Done.", { usage: usage(1, 999) });
  const model = { model: MODEL, fallbacks: [], stream: scriptedModel(message).stream };
  const stream = meter.stream(ANN, model);
  expect([await call(stream), await call(stream), await call(stream)].map(codeOf)).toEqual([
    "finish",
    "finish",
    "budget",
  ]);
  expect((await ledger.balances([ALL_POT]))[0]?.spent).toEqual({ micros: 2, tokens: 1_998 });
});

test("refused requests cost nothing; aborted ones are charged by estimate", async () => {
  const { meter, ledger } = await meterWith([DAILY]);
  const spent = async () => (await ledger.balances([ALL_POT]))[0];
  const of = (stream: StreamModel) => meter.stream(ANN, { model: MODEL, fallbacks: [], stream });
  const error = {
    code: "network",
    message: "gone",
    retryable: true,
    emitted: false,
    scope: "provider",
  } as const;

  await call(of(scriptedModel(assistantMessage("", { content: [], stopReason: "error", error })).stream));
  expect(await spent()).toMatchObject({ spent: { micros: 0, tokens: 0 }, reserved: { micros: 0 } });

  await call(of(scriptedModel(assistantMessage("Half an", { stopReason: "error", error })).stream));
  const afterBroken = (await spent())?.spent.micros ?? 0;
  expect(afterBroken).toBeGreaterThan(20);

  for await (const event of of(scriptedModel("An answer that nobody waits for.").stream)(MODEL, CONTEXT)) {
    if (event.type === "text.delta") break;
  }
  const afterLeft = await spent();
  expect(afterLeft?.spent.micros).toBeGreaterThan(afterBroken);
  expect(afterLeft?.reserved).toEqual({ micros: 0, tokens: 0 });
});

test("failed attempts count toward the cost of a call", async () => {
  const { meter, ledger } = await meterWith([DAILY]);
  const failure = { provider: "test", model: "large", code: "network", message: "cut" } as const;
  const stream: StreamModel = async function* () {
    const next = { kind: "retry", provider: "test", model: "large", delayMs: 0 } as const;
    yield { type: "attempt", failure: { ...failure, usage: usage(300) }, next };
    yield* toEvents(assistantMessage("Done.", { usage: usage(50) }));
  };
  await call(meter.stream(ANN, { model: MODEL, fallbacks: [], stream }));
  expect((await ledger.balances([ALL_POT]))[0]?.spent.micros).toBe(350);
});

test("an aborted call is charged the usage that its stream reported", async () => {
  const partial = assistantMessage("A long answer. ".repeat(400), {
    stopReason: "aborted",
    usage: usage(300),
    error: { code: "aborted", message: "stopped", retryable: false, emitted: true, scope: "provider" },
  });
  const { meter, ledger } = await meterWith([{ ...DAILY, limit: { unit: "micros", amount: 1_000_000 } }]);
  const stream: StreamModel = async function* () {
    const next = { kind: "retry", provider: "test", model: "large", delayMs: 0 } as const;
    const failure = { provider: "test", model: "large", code: "network", message: "cut" } as const;
    for (const event of toEvents(partial)) if (event.type !== "error") yield event;
    yield { type: "attempt", failure: { ...failure, usage: usage(300) }, next };
    yield* toEvents(partial);
  };
  await call(meter.stream(ANN, { model: MODEL, fallbacks: [], stream }));
  expect((await ledger.balances([ALL_POT]))[0]?.spent).toEqual({ micros: 600, tokens: 600 });
});

test("a failing ledger refuses every call", async () => {
  const { meter } = await meterWith([DAILY], {
    ledger: { ...(await openLedger()), reserve: () => Promise.reject(new Error("the disk is full")) },
  });
  const model = costing(1);
  expect(codeOf(await call(meter.stream(ANN, model)))).toBe("budget");
  expect(model.calls()).toBe(0);
});

test("concurrent calls exceed the limit by one call at most", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ cost: fc.integer({ min: 0, max: 1_000 }), turns: fc.integer({ min: 0, max: 4 }) }),
        {
          minLength: 1,
          maxLength: 30,
        },
      ),
      fc.integer({ min: 1, max: 5_000 }),
      fc.scheduler(),
      async (calls, amount, scheduler) => {
        const { meter, ledger } = await meterWith([{ ...DAILY, limit: { unit: "micros", amount } }]);
        const worst: number[] = [];
        const inTurns = async ({ cost, turns }: (typeof calls)[number]) => {
          const stream: StreamModel = async function* () {
            for (let turn = 0; turn < turns; turn++) await setImmediate();
            const [balance] = await ledger.balances([ALL_POT]);
            worst.push((balance?.spent.micros ?? 0) + (balance?.reserved.micros ?? 0));
            yield* toEvents(assistantMessage("Done.", { usage: usage(cost) }));
          };
          await scheduler.schedule(Promise.resolve());
          await call(meter.stream(ANN, { model: MODEL, fallbacks: [], stream }));
        };
        await scheduler.waitFor(Promise.all(calls.map(inTurns)));
        const [balance] = await ledger.balances([ALL_POT]);
        // The maximum cost of one call: its input and 100 output tokens at the prices of MODEL.
        const estimate = 1_050;
        expect(balance?.reserved.micros).toBe(0);
        expect(balance?.spent.micros).toBeLessThan(amount + estimate);
        for (const standing of worst) expect(standing).toBeLessThan(amount + estimate);
      },
    ),
    { numRuns: 50 },
  );
});
