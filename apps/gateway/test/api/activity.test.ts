import { type Activity, createClient } from "@signalbox/client";
import { expect, it, onTestFinished } from "vitest";
import { exampleConfig, openWorld, TOKEN } from "../support/harness.ts";

it("shows an owner the current activity, the queues and the final costs", async () => {
  const world = await openWorld();
  world.configure({ ...exampleConfig(), budgets: [{ of: "sender", usd: 5 }] });
  const goOn = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index === 1) await goOn.promise;
    return index === 0
      ? { text: "First.", toolCalls: [{ id: "toolu_1", name: "ls", input: { path: "." } }] }
      : { text: "Second.", usage: { input: 1_000, output: 100 } };
  });
  const started = await world.start();
  const client = createClient({ baseUrl: started.url, token: TOKEN });
  const connection = client.connect();
  onTestFinished(() => connection.close());
  let now: Activity | undefined;
  onTestFinished(
    connection.watch((activity) => {
      now = activity;
    }),
  );

  await connection.send({ agent: "coder", conversation: "c1", text: "what is there?" });
  await expect.poll(() => now?.runs[0]?.calls[0]?.state).toBe("done");
  expect(now?.runs).toMatchObject([
    {
      agent: "coder",
      sessionKey: "agent:coder:web:direct:c1",
      calls: [{ name: "ls", args: '{"path":"."}' }],
    },
  ]);
  await connection.send({ agent: "coder", conversation: "c1", text: "/queue followup" });
  await connection.send({ agent: "coder", conversation: "c1", text: "and then?" });
  await expect.poll(() => now?.waiting.map(({ text }) => text)).toEqual(["and then?"]);

  goOn.resolve();
  // Between the two runs nothing may run or wait for a moment.
  await started.settled();
  await expect.poll(() => now).toMatchObject({ runs: [], waiting: [] });
  const { groups, budgets } = await client.usage({ by: "session", days: 1 });
  expect(groups).toMatchObject([
    { name: "agent:coder:web:direct:c1", title: "what is there?", runs: 2, modelCalls: 3 },
  ]);
  expect(groups[0]?.costMicros).toBeGreaterThan(0);
  expect(budgets).toMatchObject([{ budget: "each sender, $5.00 a day", unit: "micros", allowed: 5_000_000 }]);
  expect(budgets[0]?.spent).toBe(groups[0]?.costMicros);
  expect((await client.usage({ by: "day" })).groups).toHaveLength(1);
});
