import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { FencedError, type LeaseToken } from "../src/index.ts";
import { answered, reply, seed, takeLease, temporaryFolder, testStore } from "./support.ts";

test("routes are kept by configuration and digest", async () => {
  const { store, time } = await testStore();
  await store.routes.put("c1", [{ digest: "a", route: { agent: "one" } }]);
  time.now += 1;
  await store.routes.put("c2", [
    { digest: "b", route: { agent: "two" } },
    { digest: "c", route: { agent: "three" } },
  ]);
  expect(await store.routes.load("c1")).toEqual([{ digest: "a", route: { agent: "one" } }]);
  expect((await store.routes.load("c2")).map((row) => row.digest).sort()).toEqual(["b", "c"]);
  expect(await store.routes.prune("c2")).toBe(1);
  expect(await store.routes.load("c1")).toEqual([]);
  expect(await store.routes.load("c2", 1)).toHaveLength(1);
});

test("what a model was told beside messages is kept with them, but for what memory gave and has forgotten", async () => {
  const { store, time } = await testStore();
  const lease = await takeLease(store);
  await answered(store, lease, "one", "a");
  await store.sessions.ensure({ ...seed("b"), agentId: "other" });
  await store.contexts.put("a", [{ seq: 1, text: "a page", told: [], recalled: "old", forOwner: false }]);
  await store.contexts.put("a", [
    { seq: 1, text: "a page", told: [], recalled: "a note", forOwner: false },
    { seq: 3, text: "", told: [], recalled: "more", forOwner: false },
  ]);
  await store.contexts.put("b", [
    { seq: 1, text: "", told: [], recalled: "of another agent", forOwner: true },
  ]);
  expect(await store.contexts.from("a", 1)).toEqual([
    { seq: 1, text: "a page", told: [], recalled: "a note", forOwner: false },
    { seq: 3, text: "", told: [], recalled: "more", forOwner: false },
  ]);
  expect(await store.contexts.from("a", 2)).toHaveLength(1);
  expect(await store.contexts.forgetRecalled(seed("a").agentId)).toBe(2);
  expect(await store.contexts.from("a", 1)).toEqual([
    { seq: 1, text: "a page", told: [], recalled: "", forOwner: false },
    { seq: 3, text: "", told: [], recalled: "", forOwner: false },
  ]);
  expect(await store.contexts.from("b", 1)).toMatchObject([{ recalled: "of another agent", forOwner: true }]);

  await store.sessions.reset("a", lease);
  await answered(store, lease, "two", "a");
  time.now += 100 * 86_400_000;
  await store.maintenance.prune();
  expect((await store.contexts.from("a", 1)).map(({ seq }) => seq)).toEqual([3]);
  await store.sessions.remove("a", await takeLease(store));
  expect(await store.contexts.from("a", 1)).toEqual([]);
});

test("what a model was told of a group is what it is there now: edited, or gone", async () => {
  const path = join(temporaryFolder(), "signalbox.db");
  const { store, time } = await testStore({ path });
  const lease = await takeLease(store);
  await answered(store, lease, "one", "a");
  const entry = (id: string, conversation = "g") => {
    return { conversation, id, senderId: "u", body: { text: id }, at: 1 };
  };
  const contexts = (told: ReturnType<typeof entry>[]) => [
    { seq: 1, text: "", told, recalled: "", forOwner: false },
  ];
  const told = async () => (await store.contexts.from("a", 1)).flatMap((context) => context.told);
  await store.contexts.put("a", contexts([entry("m0")]));
  await store.contexts.put("a", contexts([entry("m1"), entry("m2"), entry("m3"), entry("m1", "elsewhere")]));
  expect(await store.groupHistory.revise("g", "m2", { text: "edited" })).toBe(false);
  await store.groupHistory.clear("g", "m1");
  const left = [{ ...entry("m2"), body: { text: "edited" } }, entry("m3"), entry("m1", "elsewhere")];
  expect(await told()).toEqual(left);

  await store.sessions.reset("a", lease);
  time.now += 100 * 86_400_000;
  await store.maintenance.prune();
  using file = new DatabaseSync(path);
  const count = () => file.prepare("SELECT count(*) AS n FROM told_history").get();
  expect(count()).toEqual({ n: 0 });
  await answered(store, lease, "two", "a");
  await store.contexts.put("a", contexts([entry("m2")]));
  expect(count()).toEqual({ n: 1 });
  await store.sessions.remove("a", await takeLease(store));
  expect(count()).toEqual({ n: 0 });
});

test("the history of a group is a ring", async () => {
  const { store } = await testStore();
  for (let i = 1; i <= 25; i += 1) {
    await store.groupHistory.push("g", { id: `m${i}`, senderId: "u", body: { text: String(i) }, at: i });
  }
  await store.groupHistory.push("h", { id: "m1", senderId: "u", body: "other", at: 1 });
  expect((await store.groupHistory.list("g")).map((entry) => entry.at)).toEqual(
    Array.from({ length: 20 }, (_, i) => i + 6),
  );
  await store.groupHistory.push("g", { id: "m7", senderId: "u", body: { text: "edited" }, at: 7 });
  expect((await store.groupHistory.list("g"))[1]).toEqual({
    id: "m7",
    senderId: "u",
    body: { text: "edited" },
    at: 7,
  });
  expect(await store.groupHistory.revise("g", "m8", "changed")).toBe(true);
  expect(await store.groupHistory.revise("g", "m1", "gone already")).toBe(false);
  expect((await store.groupHistory.list("g"))[2]).toMatchObject({ id: "m8", body: "changed" });
  await store.groupHistory.push("g", { id: "m26", senderId: "u", body: null, at: 26 }, 2);
  expect((await store.groupHistory.list("g")).map((entry) => entry.id)).toEqual(["m25", "m26"]);
  await store.groupHistory.clear("g", "m25");
  expect(await store.groupHistory.list("g")).toHaveLength(1);
  await store.groupHistory.clear("g");
  expect(await store.groupHistory.list("g")).toEqual([]);
  expect(await store.groupHistory.list("h")).toHaveLength(1);
});

test("values have a namespace and can run out", async () => {
  const { store, time } = await testStore();
  await store.kv.set("discord", "resume", { session: "s", seq: 4 });
  await store.kv.set("names", "ou_1", "Zhang San", 1000);
  await store.kv.set("names", "ou_2", "Li Si");
  expect(await store.kv.get("discord", "resume")).toEqual({ session: "s", seq: 4 });
  expect(await store.kv.list("names")).toEqual([
    { key: "ou_1", value: "Zhang San", expiresAt: time.now + 1000 },
    { key: "ou_2", value: "Li Si" },
  ]);
  time.now += 1000;
  expect(await store.kv.get("names", "ou_1")).toBeUndefined();
  await store.kv.set("names", "ou_1", "other");
  expect(await store.kv.delete("names", "ou_1")).toBe(true);
  expect(await store.kv.delete("names", "ou_1")).toBe(false);
});

test("a stranger gets in with a code that an owner approves, once", async () => {
  const { store, time } = await testStore();
  const stranger = { channel: "feishu", account: "main", peerId: "ou_9", label: "Stranger" };
  expect(await store.pairing.request({ ...stranger, code: "ABCD2345" })).toBe("created");
  expect(await store.pairing.request({ ...stranger, code: "ZZZZ9999" })).toBe("pending");
  expect(await store.pairing.pending()).toEqual([
    { ...stranger, createdAt: time.now, expiresAt: time.now + 600_000 },
  ]);
  expect(await store.pairing.isApproved("feishu", "main", "ou_9")).toBe(false);
  expect(await store.pairing.approve({ code: "abcd2345 ", approvedBy: "owner", channel: "slack" })).toEqual({
    outcome: "unknown",
  });
  const peer = { ...stranger, approvedAt: time.now, approvedBy: "owner" };
  expect(await store.pairing.approve({ code: "abcd2345 ", approvedBy: "owner" })).toEqual({
    outcome: "approved",
    peer,
  });
  expect(await store.pairing.approve({ code: "ABCD2345", approvedBy: "owner" })).toEqual({
    outcome: "unknown",
  });
  expect(await store.pairing.isApproved("feishu", "main", "ou_9")).toBe(true);
  expect(await store.pairing.isApproved("feishu", "other", "ou_9")).toBe(false);
  expect(await store.pairing.request({ ...stranger, code: "ABCD2345" })).toBe("approved");
  expect(await store.pairing.peers()).toEqual([peer]);
  expect(await store.pairing.revoke("feishu", "main", "ou_9")).toBe(true);
  expect(await store.pairing.isApproved("feishu", "main", "ou_9")).toBe(false);
});

test("a code and the message that tells it are committed together, or not at all", async () => {
  const { store } = await testStore();
  const lease = await takeLease(store);
  const request = (peerId: string, row: Parameters<typeof reply>[0], held: LeaseToken) =>
    store.pairing.request({
      channel: "feishu",
      account: "main",
      peerId,
      code: "ABCD2345",
      reply: { row: reply(row), lease: held },
    });
  expect(await request("1", "your code", lease)).toBe("created");
  expect(await request("1", "again", lease)).toBe("pending");
  const { rows } = await store.outbox.claimDue({ lease, limit: 9 });
  expect(rows.map((row) => row.payload)).toEqual([reply("your code").payload]);
  const lost = { ...lease, epoch: lease.epoch + 1 };
  await expect(request("2", "from the past", lost)).rejects.toBeInstanceOf(FencedError);
  expect((await store.pairing.pending()).map((one) => one.peerId)).toEqual(["1"]);
});

test("codes run out after 10 minutes and after 5 wrong tries, and 3 can be open for an account", async () => {
  const { store, time } = await testStore();
  const request = (peerId: string, code: string, account = "main") =>
    store.pairing.request({ channel: "feishu", account, peerId, code });
  expect(await request("1", "AAAAAAAA")).toBe("created");
  expect(await request("2", "BBBBBBBB")).toBe("created");
  expect(await request("3", "CCCCCCCC")).toBe("created");
  expect(await request("4", "DDDDDDDD")).toBe("full");
  expect(await request("4", "DDDDDDDD", "second")).toBe("created");
  for (let i = 0; i < 5; i += 1) {
    await store.pairing.approve({ code: "WRONG", approvedBy: "owner", channel: "feishu", account: "main" });
  }
  expect(await store.pairing.approve({ code: "AAAAAAAA", approvedBy: "owner" })).toEqual({
    outcome: "unknown",
  });
  expect(await request("4", "EEEEEEEE")).toBe("created");
  time.now += 600_000;
  expect(await store.pairing.approve({ code: "EEEEEEEE", approvedBy: "owner" })).toEqual({
    outcome: "unknown",
  });
  expect(await store.pairing.pending()).toEqual([]);
});

test("traces can be read at once, and after a restart", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const { store, time } = await testStore({ path });
  await store.traces.append("m1", [{ stage: "intake", data: { dedupe: "new" } }]);
  await store.traces.append("m2", [{ stage: "intake", data: null }]);
  await store.traces.append("m1", [{ stage: "routing", data: { tier: "peer" }, at: 5 }]);
  const entries = [
    { stage: "intake", data: { dedupe: "new" }, at: time.now },
    { stage: "routing", data: { tier: "peer" }, at: 5 },
  ];
  // The second reader comes while the first one's batch is being written.
  const both = await Promise.all([store.traces.read("m1"), store.traces.read("m1")]);
  expect(both).toEqual([entries, entries]);
  await store.traces.append("m1", [{ stage: "reply", data: "late", at: 6 }]);
  await store.close();
  const { store: again } = await testStore({ path });
  expect(await again.traces.read("m1")).toEqual([...entries, { stage: "reply", data: "late", at: 6 }]);
  expect(await again.traces.read("nothing")).toEqual([]);
});
