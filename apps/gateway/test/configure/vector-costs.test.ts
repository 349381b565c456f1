import { createMemoryLedger } from "@signalbox/budgets";
import { loadConfig } from "@signalbox/config";
import { expect, it } from "vitest";
import { createVectorCosts } from "../../src/agent/vector-costs.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const EMBEDDINGS = "local/small";

/** An agent with a hundred thousandth of a dollar a day, and a provider that reports so many tokens. */
function payingFor(tokens: number | undefined) {
  const { config } = loadConfig({
    file: "signalbox.yaml",
    env: {},
    text: `
budgets: [{ of: agent, name: coder, usd: 0.00001, action: stop }]
models:
  providers:
    local:
      api: openai-chat
      baseUrl: http://127.0.0.1:9/v1
      models: [{ id: small, prices: { input: 2, output: 0 } }]
`,
  });
  const news: string[] = [];
  const ledger = createMemoryLedger();
  const payForVectors = createVectorCosts(() => config, {
    ledger,
    onNews: (_budget, kind) => void news.push(kind),
    logger: { warn() {} },
    now: () => NOON,
  });
  const pay = payForVectors("coder", EMBEDDINGS);
  const ask = async () => ({ vectors: [Float32Array.from([1])], tokens });
  return {
    pay: () => pay(["twelve chars"], ask),
    other: () => payForVectors("other", EMBEDDINGS)(["x"], ask),
    news,
  };
}

it("vectors cost their agent what the provider reports, and stop where its budget is used up", async () => {
  const { pay, other, news } = payingFor(5);
  expect(await pay()).toMatchObject({ tokens: 5 });
  await expect(pay()).rejects.toThrow(/budget for this day is used up/);
  expect(news).toEqual(["used-up", "refused"]);
  expect(await other()).toMatchObject({ tokens: 5 });
});

it("vectors of a provider that reports nothing cost what was sent", async () => {
  const { pay, news } = payingFor(undefined);
  // Three tokens at 2 millionths each, of 10.
  await pay();
  await pay();
  await expect(pay()).rejects.toThrow(/used up/);
  expect(news).toEqual(["used-up", "refused"]);
});
