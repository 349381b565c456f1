import { openStore } from "@signalbox/store";
import { expect, it } from "vitest";
import type { GatewayBodies } from "../../src/store.ts";
import { eventually, exampleConfig, inboxRows, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

it("answers a message after another process's run in the session has ended", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { plain: { accounts: { main: {} } } } }));
  world.script(() => ({ text: "fine" }));
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  await plain.emit(plainMessage("m1", "hello"));
  await started.settled();

  const theirs = await openStore<GatewayBodies>({ path: world.home.databaseFile, access: "share" });
  const lease = await theirs.leases.acquire("another", "another", 60_000);
  const [session] = await theirs.sessions.list();
  if (lease === undefined || session === undefined) throw new Error("nothing to hold");
  const begun = await theirs.runs.begin({ session, lease, inboxIds: [], userMessages: [] });
  await plain.emit(plainMessage("m2", "and now?"));
  expect((await inboxRows(world)).map(({ state }) => state)).toEqual(["replied", "queued"]);
  await theirs.runs.finish({ runId: begun.run.id, lease, outcome: "completed", inbox: [] });
  await theirs.close();

  await eventually(() => said(plain).length === 2, "what waited is answered");
  await started.settled();
  expect((await inboxRows(world)).map(({ state }) => state)).toEqual(["replied", "replied"]);
  expect(started.log()).not.toContain("failed");
});
