import { loadConfig } from "@signalbox/config";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createVectorCosts } from "../../src/agent/vector-costs.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const EMBEDDINGS = "local/small";

/** An agent with a hundred thousandth of a dollar a day, and a provider that reports so many tokens. */
async function payingFor(tokens: number | undefined) {
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
  const notices: string[] = [];
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("test", "test", 60_000);
  if (lease === undefined) throw new Error("The lease of a new store is taken.");
  const ledger = store.budgets.ledger(lease);
  const payForVectors = createVectorCosts(() => config, {
    ledger,
    onNotice: (_budget, kind) => void notices.push(kind),
    logger: { warn() {} },
    now: () => NOON,
  });
  const pay = payForVectors("coder", EMBEDDINGS);
  const ask = async () => ({ vectors: [Float32Array.from([1])], tokens });
  return {
    pay: () => pay(["twelve chars"], ask),
    other: () => payForVectors("other", EMBEDDINGS)(["x"], ask),
    notices,
  };
}

it("vectors cost their agent what the provider reports, and stop where its budget is used up", async () => {
  const { pay, other, notices } = await payingFor(5);
  expect(await pay()).toMatchObject({ tokens: 5 });
  await expect(pay()).rejects.toThrow(/budget for this day is used up/);
  expect(notices).toEqual(["used_up", "refused"]);
  expect(await other()).toMatchObject({ tokens: 5 });
});

it("vectors of a provider that reports nothing cost what was sent", async () => {
  const { pay, notices } = await payingFor(undefined);
  // Three tokens at 2 millionths each, of 10.
  await pay();
  await pay();
  await expect(pay()).rejects.toThrow(/used up/);
  expect(notices).toEqual(["used_up", "refused"]);
});
