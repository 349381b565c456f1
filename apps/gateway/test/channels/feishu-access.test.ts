import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  ends,
  exampleConfig,
  feishuAccount,
  LI,
  openWorld,
  type Started,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { fences, modelRequests } from "../support/model-requests.ts";

async function say(started: Started, event: unknown): Promise<void> {
  expect((await started.post(event)).status).toBe(200);
  await started.settled();
}

async function command(world: World, ...args: string[]): Promise<{ code: number; out: string }> {
  const { code, out, err } = await world.command(args);
  return { code, out: out + err };
}

describe("who may talk to an agent on Feishu", () => {
  it("a stranger gets only a pairing code until an owner approves it", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: { dm: "pairing", owners: [`feishu:${LI}`] } }));
    world.script(() => ({ text: "welcome" }));
    const started = await world.start();
    await say(started, textMessage("let me in", { senderId: ZHANG, messageId: "om_1" }));
    await say(started, textMessage("please", { senderId: ZHANG, messageId: "om_2" }));
    expect(world.anthropic.requests).toEqual([]);
    const toOwner = () => world.feishu.sent.filter(({ chatId }) => chatId === `oc_of_${LI}`);
    const toOthers = () => world.feishu.sent.filter(({ chatId }) => chatId !== `oc_of_${LI}`);
    await expect.poll(() => toOwner().length).toBe(1);
    // Strangers cannot write to owners.
    expect(toOwner()[0]?.content).toContain("Someone on feishu/main waits");
    expect(toOwner()[0]?.content).not.toMatch(new RegExp(`let me in\\b.*please|${ZHANG}`));
    expect(toOthers()).toHaveLength(1);
    const code = /Pairing code: ([A-Z0-9]{8})\./.exec(toOthers()[0]?.content ?? "")?.[1] ?? "";
    expect(code).not.toBe("");
    expect(await ends(world)).toEqual(Array(2).fill(["ignored", "dm_unknown"]));

    // The command line works beside the running gateway.
    expect((await command(world, "pairing", "list")).out).toContain(ZHANG);
    expect((await command(world, "pairing", "approve", "WRONGONE")).code).toBe(1);
    expect(await command(world, "pairing", "approve", code.toLowerCase())).toMatchObject({ code: 0 });
    expect((await command(world, "pairing", "approve", code)).code).toBe(1);

    await say(started, textMessage("thank you", { senderId: ZHANG, messageId: "om_3" }));
    expect(toOthers().map(({ parentId }) => parentId)).toEqual(["om_1", "om_3"]);
    expect(toOwner()).toHaveLength(1);
    expect(fences(modelRequests(world.anthropic)[0]?.messages.at(-1)?.text ?? "")[0]).toMatchObject({
      role: "member",
    });
    // What was said before does not come in with the person.
    expect(JSON.stringify(modelRequests(world.anthropic))).not.toContain("let me in");
    await say(started, textMessage("I own this", { senderId: LI, chatId: "oc_li" }));
    expect(fences(modelRequests(world.anthropic)[1]?.messages.at(-1)?.text ?? "")[0]).toMatchObject({
      role: "owner",
    });
    // Being let in to talk grants nothing in groups.
    await say(started, groupMention("and here?", world.feishu.bot, { senderId: ZHANG, chatId: "oc_group" }));
    expect((await ends(world)).at(-1)).toEqual(["ignored", "group_not_allowed"]);

    // Whom the list names can be made a stranger again, beside the running gateway and without one.
    const person = `feishu:main:${ZHANG}`;
    expect((await command(world, "pairing", "list")).out).toContain(`paired  ${person}`);
    expect((await command(world, "pairing", "revoke", ZHANG)).code).toBe(64);
    expect((await command(world, "pairing", "revoke", person)).code).toBe(0);
    await say(started, textMessage("still there?", { senderId: ZHANG, messageId: "om_9" }));
    expect((await ends(world)).at(-1)).toEqual(["ignored", "dm_unknown"]);
    await started.stop();
    expect((await command(world, "pairing", "revoke", person)).code).toBe(1);
  });

  it("a stranger who writes in Chinese gets a Chinese answer", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: { dm: "pairing", owners: [`feishu:${LI}`] } }));
    const started = await world.start();
    await say(started, textMessage("你好", { senderId: ZHANG }));
    const contents = world.feishu.sent.map(({ content }) => content);
    expect(contents).toContainEqual(expect.stringMatching(/配对码：[A-Z0-9]{8}。/));
  });

  it("a binding that names a person admits them where it applies, and nowhere else", async () => {
    const world = await openWorld();
    const named = (kind: string, id: string) => ({ channel: "feishu", account: "w*", peer: { kind, id } });
    world.configure(
      exampleConfig({
        channels: { feishu: { accounts: { main: feishuAccount(), work: feishuAccount() } } },
        access: { dm: "allowlist", groups: { mode: "allowlist" } },
        bindings: [
          { agent: "coder", match: named("direct", ZHANG) },
          { agent: "coder", match: named("group", "oc_team") },
          { agent: "coder", match: { channel: "feishu", peer: { kind: "direct", id: "*" } } },
        ],
      }),
    );
    world.script(() => ({ text: "yes" }));
    const started = await world.start();
    const at = async (account: string, event: unknown): Promise<void> => {
      const url = `${started.url}/channels/feishu/${account}/events`;
      expect((await world.feishu.postEvent(url, event)).status).toBe(200);
      await started.settled();
    };
    for (const account of ["main", "work"]) {
      await at(account, textMessage("hello", { senderId: ZHANG }));
      await at(account, textMessage("hello", { senderId: LI, chatId: "oc_li" }));
      await at(account, groupMention("hello", world.feishu.bot, { senderId: LI, chatId: "oc_team" }));
    }
    expect(await ends(world)).toEqual([
      ["ignored", "dm_not_allowed"],
      ["ignored", "dm_not_allowed"],
      ["ignored", "group_not_allowed"],
      ["replied", undefined],
      ["ignored", "dm_not_allowed"],
      ["replied", undefined],
    ]);
  });

  it("uses the platform's ids only, whatever names people choose", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        access: {
          dm: "allowlist",
          allow: [`feishu:${LI}`, "feishu:张三"],
          groups: { mode: "allowlist", allow: ["feishu:oc_ours"] },
        },
      }),
    );
    world.feishu.addUser(ZHANG, `feishu:${LI}`);
    world.script(() => ({ text: "yes" }));
    const started = await world.start();
    await say(started, textMessage("1", { senderId: ZHANG }));
    await say(started, textMessage("2", { senderId: LI.toUpperCase(), chatId: "oc_2" }));
    await say(started, textMessage("3", { senderId: LI, chatId: "oc_3" }));
    await say(started, groupMention("4", world.feishu.bot, { senderId: ZHANG, chatId: "oc_theirs" }));
    await say(started, groupMention("5", world.feishu.bot, { senderId: ZHANG, chatId: "oc_ours" }));
    await say(started, textMessage("6", { senderId: ZHANG, chatId: "oc_ours", chatType: "group" }));
    await say(
      started,
      textMessage("7", {
        senderId: "cli_another_bot",
        senderType: "app",
        chatId: "oc_ours",
        chatType: "group",
      }),
    );
    expect(await ends(world)).toEqual([
      ["ignored", "dm_not_allowed"],
      ["ignored", "dm_not_allowed"],
      ["replied", undefined],
      ["ignored", "group_not_allowed"],
      ["replied", undefined],
      ["ignored", "not_addressed"],
      ["ignored", "bot"],
    ]);
    expect(modelRequests(world.anthropic)).toHaveLength(2);
  });

  it("applies a group's rule to its people, the prompt and the tools", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        access: {
          owners: [`feishu:${LI}`],
          groups: {
            allow: ["feishu:oc_ruled", "feishu:oc_plain"],
            people: "members",
            rules: { "feishu:oc_ruled": { tools: { deny: ["read"] }, prompt: "Answer in rhyme." } },
          },
        },
      }),
    );
    world.script(() => ({ text: "yes" }));
    const started = await world.start();
    await say(started, groupMention("1", world.feishu.bot, { senderId: ZHANG, chatId: "oc_ruled" }));
    await say(started, groupMention("2", world.feishu.bot, { senderId: LI, chatId: "oc_ruled" }));
    await say(started, groupMention("3", world.feishu.bot, { senderId: LI, chatId: "oc_plain" }));
    expect(await ends(world)).toEqual([
      ["ignored", "group_sender"],
      ["replied", undefined],
      ["replied", undefined],
    ]);
    const [ruled, plain] = modelRequests(world.anthropic);
    expect([ruled?.stable.includes("Answer in rhyme."), ruled?.tools.includes("read")]).toEqual([
      true,
      false,
    ]);
    expect([plain?.stable.includes("Answer in rhyme."), plain?.tools.includes("read")]).toEqual([
      false,
      true,
    ]);
  });

  it("routes each message to the agent of the most specific binding", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: ["main", "group", "account", "person"].map((id) => ({ id })),
        },
        channels: { feishu: { accounts: { main: feishuAccount() } } },
        bindings: [
          { agent: "account", match: { channel: "feishu", account: "main" } },
          { agent: "group", match: { channel: "feishu", peer: { kind: "group", id: "oc_group" } } },
          {
            agent: "person",
            match: { channel: "feishu", account: "main", peer: { kind: "direct", id: ZHANG } },
          },
        ],
      }),
    );
    world.script(() => ({ text: "yes" }));
    const started = await world.start();
    await say(started, textMessage("1", { senderId: ZHANG, messageId: "om_1" }));
    await say(started, textMessage("2", { senderId: LI, chatId: "oc_2", messageId: "om_2" }));
    await say(
      started,
      groupMention("3", world.feishu.bot, { senderId: LI, chatId: "oc_group", messageId: "om_3" }),
    );
    expect(modelRequests(world.anthropic).map(({ volatile }) => /agent=(\w+)/.exec(volatile)?.[1])).toEqual([
      "person",
      "account",
      "group",
    ]);
    const why = await command(world, "why", "om_1", "--details");
    expect(why.out).toMatch(/admit +agent person by binding\.peer, session agent:person:feishu:direct:ou_/);
    expect((await command(world, "why", "om_2", "--details")).out).toMatch(
      /admit +agent account by binding\.account/,
    );
    expect((await command(world, "trace", "om_3", "--json")).out).toContain('"stage": "deliver"');
    expect(await command(world, "why", "om_never")).toEqual({
      code: 1,
      out: expect.stringContaining("There is no message om_never."),
    });
  });
});
