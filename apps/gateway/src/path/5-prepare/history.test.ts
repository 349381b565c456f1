import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import type { GatewayBodies } from "../../store.ts";
import { createHistories } from "./history.ts";

it("gives nothing of a conversation that was removed to the next one of its key", async () => {
  const store = await openStore<GatewayBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 30_000);
  if (!lease) throw new Error("no lease");
  const key = "agent:main:plain:direct:anna";
  const begin = async (content: string) => {
    await store.sessions.ensure({
      ...{ key, agentId: "main", channel: "plain", account: "main", peer: "anna" },
      kind: "direct",
    });
    return store.sessions.append(key, [{ role: "user", content, timestamp: 1 }], lease);
  };
  const histories = createHistories(store);
  const first = await begin("the first conversation");
  const history = await histories.load(key, first);
  histories.keep(key, first.generation, history);
  expect(await histories.load(key, first)).toMatchObject({ messages: history.messages, places: [1] });

  await store.sessions.remove(key, lease);
  expect(await histories.load(key, await store.sessions.get(key))).toEqual({ messages: [], places: [] });
  const { messages } = await histories.load(key, await begin("the second one"));
  expect(messages).toMatchObject([{ content: "the second one" }]);
});
