import { expect, test } from "vitest";
import { temporaryFolder, testStore } from "./support.ts";

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
