import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { groupMention } from "@signalbox/testkit/feishu";
import { expect, it, onTestFinished } from "vitest";
import { MARKER_FILE } from "../../src/configure/workspace-markers.ts";
import type { GatewayBodies } from "../../src/store.ts";
import { from, OWNED } from "../support/feishu-talk.ts";
import { eventually, exampleConfig, LI, openWorld } from "../support/harness.ts";
import { startNode } from "../support/nodes.ts";

it("takes an agent over only with the workspace that it had, and says what to do otherwise", async () => {
  const world = await openWorld();
  const workspaceAt = (name: string): string => {
    const dir = join(world.dir, `volume-${name}`);
    mkdirSync(dir);
    return dir;
  };
  const [right, empty] = [workspaceAt("right"), workspaceAt("empty")];
  const configFor = (workspaceDir: string) => {
    const config = exampleConfig();
    const [coder] = Object(config["agents"]).list;
    return { ...config, agents: { ...Object(config["agents"]), list: [{ ...coder, workspaceDir }] } };
  };
  const one = await startNode(world, "one", configFor(right));
  const two = await startNode(world, "two", configFor(empty));
  const store = await openStore<GatewayBodies>({ path: world.home.databaseFile, access: "share" });
  onTestFinished(() => store.close());
  const holder = async () =>
    (await store.leases.list()).find(({ name, expiresAt }) => name === "seat coder" && expiresAt > Date.now())
      ?.holder;
  expect(await holder()).toBe(one.id);
  await one.stop();
  await eventually(() => two.log().includes("is not the workspace that the agent coder used"), "it refuses");
  expect(two.log()).toContain("Mount the volume with the workspace");
  expect(await holder()).toBeUndefined();
  // The volume is mounted.
  writeFileSync(join(empty, MARKER_FILE), readFileSync(join(right, MARKER_FILE)));
  await eventually(async () => (await holder()) === two.id, "the agent moves");
  expect(two.log().split("is not the workspace that the agent coder used")).toHaveLength(2);
});

it("trusts a file at the gateway that runs the agent, whichever gateway is asked", async () => {
  const world = await openWorld();
  const agents = {
    list: [{ id: "coder", model: "anthropic/claude-sonnet-4-6", tools: { allow: ["write"] } }],
  };
  const config = exampleConfig({ access: { ...OWNED, allow: [`feishu:${LI}`] }, agents });
  world.script([
    { toolCalls: [{ name: "write", input: { file_path: "todo.txt", content: "buy milk\n" } }] },
    { text: "Written." },
  ]);
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  expect(one.log()).toContain("agents run on this node now");
  const place = { ...from(LI), chatType: "group", chatId: "oc_group", messageId: "om_1" } as const;
  await two.post(groupMention("Note it", world.feishu.bot, place));
  await eventually(() => world.feishu.sent.length === 1, "the file is written");
  const { service } = two.gateway;
  const reviewed = await service.trust({ agent: "coder", path: "todo.txt" }, "owner");
  if (reviewed.ok || reviewed.review === undefined) throw new Error("there is no review");
  expect(reviewed.review.content).toContain("buy milk");
  const { digest } = reviewed.review;
  expect(await service.trust({ agent: "coder", path: "todo.txt", digest }, "owner")).toMatchObject({
    ok: true,
  });
  const again = await one.gateway.service.trust({ agent: "coder", path: "todo.txt" }, "owner");
  expect(again).toMatchObject({ ok: false, message: "Nothing in todo.txt was written by others." });
  expect(await service.trust({ agent: "nobody", path: "todo.txt" }, "owner")).toMatchObject({
    ok: false,
    message: "There is no agent nobody.",
  });
});
