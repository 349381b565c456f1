import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createControl } from "@signalbox/home";
import { openStore } from "@signalbox/store";
import { recalled, textMessage } from "@signalbox/testkit/feishu";
import { expect, it, onTestFinished } from "vitest";
import type { GatewayBodies } from "../../src/store.ts";
import { eventually, exampleConfig, openWorld, type World, ZHANG } from "../support/harness.ts";
import { startNode } from "../support/nodes.ts";

const config = exampleConfig({ replies: { stream: "off", typing: false } });
const ask = (text: string, messageId: string, chatId = "oc_a") =>
  textMessage(text, { senderId: ZHANG, chatId, messageId });

/** The texts in the chats, in order. */
function said(world: World): string[] {
  return world.feishu.sent.map(({ content }) => JSON.parse(content).text);
}

async function openShared(world: World) {
  const store = await openStore<GatewayBodies>({ path: world.home.databaseFile, access: "share" });
  onTestFinished(() => store.close());
  const holderOf = async (name: string) =>
    (await store.leases.list()).find((lease) => lease.name === name && lease.expiresAt > Date.now())?.holder;
  return { store, holderOf };
}

it("answers a message that another gateway accepted, once, where its agent runs", async () => {
  const world = await openWorld();
  world.script([{ text: "one" }, { text: "two" }]);
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  const { store, holderOf } = await openShared(world);
  expect(await holderOf("seat coder")).toBe(one.id);
  expect(await holderOf("account feishu/main")).toBe(one.id);
  expect((await two.post(ask("hello", "om_1"))).status).toBe(200);
  await eventually(() => said(world).length === 1, "the message is answered");
  const [run] = await store.runs.list();
  expect(run?.lease.name).toBe(`gateway ${one.id}`);
  // A gateway that stops gives its agents to the next.
  await one.stop();
  await eventually(async () => (await holderOf("seat coder")) === two.id, "the agent moves");
  await two.post(ask("hello again", "om_2"));
  await eventually(() => said(world).length === 2, "the message is answered");
  expect(said(world)).toEqual(["one", "two"]);
});

it("takes over the run of a gateway that dies, which then stops itself", async () => {
  const world = await openWorld();
  const asked = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  let turns = 0;
  world.script(async () => {
    turns += 1;
    if (turns > 1) return { text: "answered by the second gateway" };
    asked.resolve();
    await first.promise;
    return { text: "answered by a dead gateway" };
  });
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  await two.post(ask("hello", "om_1"));
  await asked.promise;
  one.pause();
  await eventually(() => said(world).length > 0, "the message is answered");
  const { store, holderOf } = await openShared(world);
  for (const name of ["seat coder", "maintenance", "account feishu/main"])
    await eventually(async () => (await holderOf(name)) === two.id, `${name} moves`);
  // The first gateway continues, as after a long pause. It may write nothing and ends.
  one.resume();
  first.resolve();
  await eventually(() => one.fatal.length > 0, "the first gateway ends");
  await one.stop();
  expect(said(world)).toEqual(["answered by the second gateway"]);
  expect((await store.runs.list()).map(({ state }) => state)).toEqual(["completed"]);
});

it("stops a run and withdraws a message on the gateway that runs the agent", async () => {
  const world = await openWorld();
  const waits = Promise.withResolvers<void>();
  onTestFinished(() => waits.resolve());
  let asked = 0;
  world.script(async () => {
    asked += 1;
    await waits.promise;
    return { text: "too late" };
  });
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  const { store, holderOf } = await openShared(world);
  expect(await holderOf("seat coder")).toBe(one.id);
  const submitted = await two.gateway.service.submit({
    channel: "api",
    agent: "coder",
    conversation: "c1",
    id: "m1",
    text: "count to a million",
  });
  if (submitted.kind !== "accepted") throw new Error(submitted.kind);
  await eventually(() => asked === 1, "the model is asked");
  expect(await two.gateway.service.abort("api", "coder", "c1")).toBe(true);
  expect((await submitted.done).state).toBe("aborted");
  expect(await two.gateway.service.abort("api", "coder", "c1")).toBe(false);
  await two.post(ask("hello", "om_1"));
  await eventually(() => asked === 2, "the model is asked");
  await two.post(recalled("om_1", { chatId: "oc_a" }));
  await eventually(
    async () => (await store.inbox.find({ messageId: "om_1" }))?.state === "ignored",
    "the message is withdrawn",
  );
  expect(said(world)).toEqual([]);
});

it("answers an edit that another gateway received before the answer and that is executed after it", async () => {
  const world = await openWorld();
  world.script([{ text: "one" }, { text: "two" }]);
  const one = await startNode(world, "one", config);
  const { store } = await openShared(world);
  await one.post(ask("hello", "om_1"));
  await eventually(() => said(world).length === 1, "the message is answered");
  const row = await store.inbox.find({ messageId: "om_1" });
  const event = { ...row?.payload.event, type: "edited", eventId: "ev_edit", text: "hello again" };
  const control = createControl({ kv: store.kv, hints: store.hints, now: Date.now, onFailure() {} });
  const request = { kind: "change", event, wasOpen: true };
  const session = { agentId: "coder", sessionKey: row?.route?.sessionKey ?? "" };
  await control.send({ ...session, body: JSON.parse(JSON.stringify(request)) });
  await eventually(() => said(world).length === 2, "the edit is answered");
  expect(JSON.stringify(world.anthropic.requests.at(-1)?.body)).toContain("(edited) hello again");
});

it("changes schedules and removes conversations where their agent runs", async () => {
  const world = await openWorld();
  world.script(() => ({ text: "done" }));
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  const { store } = await openShared(world);
  const { service } = two.gateway;
  const added = await service.addSchedule({ agent: "coder", every: "1h", text: "look at the mail" });
  if (!added.ok) throw new Error(added.message);
  expect(await service.runSchedule(added.schedule.id)).toBe("taken");
  await eventually(async () => (await store.runs.list())[0]?.state === "completed", "the schedule runs");
  expect((await store.runs.list())[0]?.lease.name).toBe(`gateway ${one.id}`);
  expect(await service.removeSchedule(added.schedule.id)).toBe(true);
  expect(await one.gateway.service.runSchedule(added.schedule.id)).toBe("unknown");
  expect((await service.schedules()).map(({ id }) => id)).not.toContain(added.schedule.id);
  const submitted = await service.submit({
    channel: "web",
    agent: "coder",
    conversation: "c1",
    id: "m1",
    text: "hello",
  });
  if (submitted.kind !== "accepted") throw new Error(submitted.kind);
  expect(await submitted.done).toMatchObject({ state: "replied", text: "done" });
  expect(await service.removeConversation("c1")).toBe("removed");
  expect(await store.sessions.list({ channel: "web", peer: "c1" })).toEqual([]);
});

it("leaves the approval request of a living gateway open when another one starts", async () => {
  const world = await openWorld();
  const one = await startNode(world, "one", config);
  const { store } = await openShared(world);
  const at = Date.now();
  await store.approvals.ask(
    {
      id: "APPROVAL",
      tool: "exec",
      subject: { action: "make" },
      agentId: "coder",
      sessionKey: "agent:coder:feishu:direct:oc_a",
      reason: "why",
      taint: [],
      hash: "hash",
      state: "pending",
      createdAt: at,
      expiresAt: at + 600_000,
    },
    5,
  );
  const two = await startNode(world, "two", config);
  expect((await store.approvals.get("APPROVAL"))?.state).toBe("pending");
  // The next gateway that runs the agent expires it, because no call waits for it any longer.
  await one.stop();
  await eventually(async () => (await store.approvals.get("APPROVAL"))?.state === "expired", "it expires");
  await two.stop();
});

it("spreads agents over gateways, and runs an agent only where its labels allow it", async () => {
  const world = await openWorld();
  const shared = join(world.dir, "shared");
  mkdirSync(shared);
  const agents = {
    list: [
      { id: "a", workspaceDir: shared },
      { id: "b", workspaceDir: shared },
      { id: "c" },
      { id: "d" },
      { id: "e" },
      { id: "gpu", nodes: ["gpu"] },
    ],
  };
  const of = (labels: readonly string[]) => ({
    ...config,
    agents,
    gateway: { ...Object(config)["gateway"], labels },
  });
  await startNode(world, "one", of([]));
  const { store, holderOf } = await openShared(world);
  expect(await holderOf("seat gpu")).toBeUndefined();
  const two = await startNode(world, "two", of(["gpu"]));
  const counts = async () => {
    const seats = (await store.leases.list()).filter(({ name }) => name.startsWith("seat "));
    return [...Map.groupBy(seats, ({ holder }) => holder).values()].map(({ length }) => length).sort();
  };
  await eventually(async () => JSON.stringify(await counts()) === "[2,3]", "the agents are spread");
  await eventually(async () => (await holderOf("seat gpu")) === two.id, "the agent moves");
  // The labels of files in a folder are known to one gateway only.
  expect((await store.leases.list()).map(({ name }) => name)).not.toContain("seat b");
});

it("keeps the messages of an agent whose labels the gateway lacks, until it has one of them", async () => {
  const world = await openWorld();
  world.script([{ text: "at last" }]);
  const of = (labels: readonly string[]) => ({
    ...config,
    agents: { list: [{ id: "coder", model: "anthropic/claude-sonnet-4-6", nodes: ["gpu"] }] },
    gateway: { ...Object(config)["gateway"], labels },
  });
  world.configure(of([]));
  const without = await world.start();
  expect(without.log()).toContain("an agent is not run, because this gateway has none of its labels");
  expect((await without.post(ask("hello", "om_1"))).status).toBe(200);
  await without.stop();
  expect(said(world)).toEqual([]);
  world.configure(of(["gpu"]));
  await world.start();
  await eventually(() => said(world).length === 1, "the message is answered");
  expect(said(world)).toEqual(["at last"]);
});
