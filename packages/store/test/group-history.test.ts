import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { answered, takeLease, temporaryFolder, testStore } from "./support.ts";

test("group messages in contexts are removed with their messages", async () => {
  const path = join(temporaryFolder(), "signalbox.db");
  const { store, time } = await testStore({ path });
  const lease = await takeLease(store);
  const told = [{ conversation: "g", id: "m2", senderId: "u", body: { text: "m2" }, at: 1 }];
  const contexts = [{ seq: 1, text: "", told, recalled: "", forOwner: false }];
  using file = new DatabaseSync(path);
  const count = () => file.prepare("SELECT count(*) AS n FROM told_history").get();
  await answered(store, lease, "one", "a");
  await store.contexts.put("a", contexts);
  expect(count()).toEqual({ n: 1 });
  await store.sessions.reset("a", lease);
  time.now += 100 * 86_400_000;
  await store.maintenance.prune();
  expect(count()).toEqual({ n: 0 });
  await answered(store, lease, "two", "a");
  await store.contexts.put("a", contexts);
  await store.sessions.remove("a", await takeLease(store));
  expect(count()).toEqual({ n: 0 });
});
