import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { pruneOneOffs } from "./one-offs.ts";

it("removes one-off conversations after an hour, and the oldest beyond a thousand", async () => {
  let now = Date.UTC(2026, 10, 21);
  const store = await openStore({ path: ":memory:", clock: () => now });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 30_000);
  if (!lease) throw new Error("no lease");
  const make = (peer: string, channel = "api") =>
    store.sessions.ensure({
      key: `agent:main:${channel}:direct:${peer}`,
      agentId: "main",
      channel,
      account: "main",
      peer,
      kind: "direct",
    });
  const kept = async () => (await store.sessions.list({ limit: 10_000 })).map(({ peer }) => peer).toSorted();
  const prune = () =>
    pruneOneOffs({
      sessions: store.sessions,
      lease,
      channel: "api",
      isOneOff: ({ peer }) => peer.startsWith("once:"),
      now: () => now,
      logger: { warn: (_, message) => expect.unreachable(message) },
    });

  await make("once:old");
  await make("user:alice");
  await make("once:of-the-page", "web");
  now += 3_600_001;
  for (let number = 1; number <= 1_010; number++) {
    await make(`once:${String(number).padStart(4, "0")}`);
    now += 1;
  }
  await prune();
  const left = await kept();
  expect(left).not.toContain("once:old");
  expect(left).toEqual(expect.arrayContaining(["user:alice", "once:of-the-page", "once:1010", "once:0011"]));
  expect(left).toHaveLength(1_002);
  now += 3_600_001;
  await prune();
  expect(await kept()).toEqual(["once:of-the-page", "user:alice"]);
});
