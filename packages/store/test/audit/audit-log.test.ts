import { expect, it } from "vitest";
import { testStore } from "../support.ts";

it("commits an entry together with the write that follows it", async () => {
  const { store } = await testStore();
  const before = (await store.maintenance.stats()).commits;
  for (let decision = 0; decision < 20; decision += 1) {
    const event = {
      at: decision,
      kind: "tool",
      action: "allowed",
      actor: "policy",
      subject: "exec",
    } as const;
    const appended = store.audit.append(event);
    await store.kv.set("test", "decision", decision);
    await appended;
  }
  // On a busy machine an entry may miss its commit and need one more.
  expect((await store.maintenance.stats()).commits - before).toBeLessThan(30);
});
