import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileMessage, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  feishuAccount,
  openWorld,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const say = (text: string, messageId: string, chatId = "oc_a") =>
  textMessage(text, { senderId: ZHANG, chatId, messageId });

const agents = (systemPrompt: string) => ({
  defaults: { model: "anthropic/claude-sonnet-4-6", systemPrompt },
  list: [{ id: "coder" }],
});

const promptOf = (world: World, at: number): string => JSON.stringify(world.anthropic.requests[at]?.body);

it("a changed agent is what it is now from its next turn on; a run that goes on is not dropped", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ agents: agents("You are a heron.") }));
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  world.script(async (_body, index) => {
    if (index === 0) {
      asked.resolve();
      await go.promise;
    }
    return { text: `answer ${index}` };
  });
  const started = await world.start();
  await started.post(say("one", "om_1"));
  await asked.promise;
  world.configure(exampleConfig({ agents: agents("You are a stork.") }));
  expect(await started.reload()).toEqual({
    applied: ["agents"],
    forStart: [],
    kept: [],
    accounts: [],
  });
  go.resolve();
  await started.settled();
  await started.post(say("two", "om_2"));
  await started.settled();
  expect(world.feishu.sent.map(({ content }) => content)).toEqual([
    expect.stringContaining("answer 0"),
    expect.stringContaining("answer 1"),
  ]);
  expect(promptOf(world, 0)).toContain("You are a heron.");
  expect(promptOf(world, 1)).toContain("You are a stork.");
});

it("an agent that gets another workspace takes files, notes and what comes from there", async () => {
  const world = await openWorld();
  const other = join(world.dir, "other");
  mkdirSync(join(other, "memory"), { recursive: true });
  writeFileSync(join(other, "letter.txt"), "from the other");
  writeFileSync(join(other, "memory", "MEMORY.md"), "- The heron is called Otto.\n");
  const access = { dm: "allowlist", owners: [`feishu:${ZHANG}`] };
  const configured = (coder: object) => exampleConfig({ access, agents: { ...agents("x"), list: [coder] } });
  world.configure(configured({ id: "coder" }));
  world.script(() => ({ text: "MEDIA:letter.txt" }));
  const started = await world.start();
  writeFileSync(join(world.home.workspace("coder"), "letter.txt"), "from the first");
  const receive = async (messageId: string) => {
    world.feishu.addResource(messageId, "file_1", Buffer.from(messageId), { mimeType: "text/plain" });
    await started.post(fileMessage("file_1", "a.txt", { senderId: ZHANG, chatId: "oc_a", messageId }));
    await started.settled();
  };
  await receive("om_1");
  world.configure(configured({ id: "coder", workspaceDir: other }));
  expect((await started.reload()).applied).toEqual(["agents"]);
  await receive("om_2");
  const sent = world.feishu.sent.map((one) =>
    Buffer.from(world.feishu.upload(one)?.content ?? "").toString(),
  );
  expect(sent).toEqual(["from the first", "from the other"]);
  expect(promptOf(world, 1)).toContain("Otto");
  expect(existsSync(join(other, "inbox"))).toBe(true);
});

it("who may talk, and where messages go, is as the file has it now", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ access: { dm: "off" } }));
  world.script(() => ({ text: "yes" }));
  const started = await world.start();
  await started.post(say("one", "om_1"));
  await started.settled();
  expect(world.anthropic.requests).toHaveLength(0);
  world.configure(
    exampleConfig({
      access: { dm: "open" },
      agents: {
        ...agents("x"),
        list: [
          { id: "coder", default: true },
          { id: "second", systemPrompt: "You are second." },
        ],
      },
      bindings: [{ agent: "second", match: { channel: "feishu", peer: { kind: "direct", id: ZHANG } } }],
    }),
  );
  expect((await started.reload()).applied).toEqual(["agents", "bindings", "access"]);
  await started.post(say("two", "om_2"));
  await started.settled();
  expect(promptOf(world, 0)).toContain("You are second.");
});

it("a changed account alone is started anew", async () => {
  const world = await openWorld();
  const accounts = (token: string) => ({
    feishu: { accounts: { main: feishuAccount(), second: feishuAccount({ verificationToken: token }) } },
  });
  world.configure(exampleConfig({ channels: accounts("first token") }));
  const started = await world.start();
  world.configure(exampleConfig({ channels: accounts("second token") }));
  expect(await started.reload()).toMatchObject({
    applied: ["channels"],
    accounts: ["feishu/second"],
  });
  const { channels } = await started.gateway.service.status();
  expect(channels.map(({ account, state }) => [account, state])).toEqual([
    ["main", "ready"],
    ["second", "ready"],
  ]);
  world.configure(exampleConfig({ channels: { feishu: { accounts: { main: feishuAccount() } } } }));
  expect((await started.reload()).accounts).toEqual(["feishu/second"]);
  expect((await started.gateway.service.status()).channels).toHaveLength(1);
});

it("of a bad edit the section in which something is wrong stays as it was, and that is said", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ agents: agents("You are a heron.") }));
  world.script(() => ({ text: "yes" }));
  const started = await world.start();
  world.configure(
    exampleConfig({
      agents: { defaults: { model: 7 }, list: [{ id: "coder" }] },
      access: { dm: "open", owners: [`feishu:${ZHANG}`] },
      replies: { typing: false },
    }),
  );
  expect(await started.reload()).toMatchObject({
    applied: ["replies"],
    kept: ["agents", "access"],
  });
  expect(started.log()).toContain("agents.defaults.model");
  expect(started.log()).toContain('"faulty":["agents"],"kept":["agents","access"]');
  world.configure("agents: [");
  await expect(started.reload()).rejects.toThrow("not valid YAML");
  expect(started.log()).toContain("the configuration cannot be applied; the previous one stays in effect");
  await started.post(say("one", "om_1"));
  await started.settled();
  expect(promptOf(world, 0)).toContain("You are a heron.");
});

it("the service reads its file when that changes, and at SIGHUP", async () => {
  const world = await openWorld();
  const logged = { port: 0, auth: { token: "a token for this test, long" }, logLevel: "info" };
  world.configure(exampleConfig({ gateway: logged, agents: agents("You are a heron.") }));
  const started = await world.startChild();
  world.configure(exampleConfig({ gateway: logged, agents: agents("You are a stork.") }));
  const says = (words: string) => eventually(() => started.stderr().includes(words), `the log has ${words}`);
  await says('"applied":["agents"]');
  started.process.kill("SIGHUP");
  await says('"applied":[]');
  expect((await started.end("SIGTERM")).code).toBe(0);
});

describe("a run that goes on while the configuration is read again", () => {
  const WRITE = { name: "write", input: { file_path: "a.txt", content: "one" } };
  const configured = (more: object = {}, allow: readonly string[] = ["read", "write"]) =>
    exampleConfig({
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow } }],
      },
      access: { dm: "allowlist", owners: [`feishu:${ZHANG}`] },
      ...more,
    });

  /** A run whose model is about to write a file when the configuration changes. */
  async function reloadedBeforeItWrites(next: ReturnType<typeof configured>) {
    const world = await openWorld();
    world.configure(configured());
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index > 0) return { text: "so be it" };
      asked.resolve();
      await goOn.promise;
      return { toolCalls: [WRITE] };
    });
    const started = await world.start();
    await started.post(say("write it", "om_1"));
    await asked.promise;
    world.configure(next);
    await started.reload();
    goOn.resolve();
    await started.settled();
    const { messages } = modelRequests(world.anthropic).at(-1) ?? {};
    const isWritten = existsSync(join(world.home.workspace("coder"), "a.txt"));
    return { isWritten, told: messages?.at(-1)?.text };
  }

  it.each([
    ["its agent may not write any more", configured({}, ["read"]), "write is not among the tools"],
    [
      "who asked may not talk to it any more",
      configured({ access: { dm: "allowlist", owners: [] } }),
      "is no longer allowed to ask for anything here",
    ],
    [
      "members may not write, and the owner has become one",
      configured({
        access: { dm: "allowlist", owners: [], allow: [`feishu:${ZHANG}`] },
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [{ id: "coder", tools: { allow: ["*"], roles: { member: { deny: ["write"] } } } }],
        },
      }),
      "write is denied for a member",
    ],
  ])("goes by what applies now: %s", async (_, next, refusal) => {
    const { isWritten, told } = await reloadedBeforeItWrites(next);
    expect(isWritten).toBe(false);
    expect(told).toContain(refusal);
  });

  it("goes on where nothing has become narrower", async () => {
    const { isWritten } = await reloadedBeforeItWrites(configured({ replies: { typing: false } }));
    expect(isWritten).toBe(true);
  });
});
