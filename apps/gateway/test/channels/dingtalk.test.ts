import {
  type DingTalkOptions,
  type FakeDingTalk,
  groupId,
  groupMention,
  inGroup,
  person,
  startDingTalk,
  textMessage,
} from "@signalbox/testkit/dingtalk";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  eventually,
  exampleConfig,
  inStore,
  openWorld,
  type Started,
  type World,
} from "../support/harness.ts";

const credentials = { clientId: "dingbot", clientSecret: "secret-of-the-app-0123456789" };
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

async function openDingTalk(
  options: Partial<DingTalkOptions> = {},
): Promise<{ readonly world: World; readonly dingtalk: FakeDingTalk }> {
  const world = await openWorld();
  const dingtalk = await startDingTalk({ ...credentials, ...options });
  onTestFinished(() => dingtalk.stop());
  return { world, dingtalk };
}

async function start(
  world: World,
  dingtalk: FakeDingTalk,
  access: object = { dm: "open" },
): Promise<Started> {
  const account = { ...credentials, apiBaseUrl: dingtalk.url };
  world.configure(exampleConfig({ channels: { dingtalk: { accounts: { main: account } } }, access }));
  const started = await world.start();
  await eventually(() => dingtalk.stream.count() > 0, "it connects");
  return started;
}

describe("DingTalk", () => {
  it("is set up by `init`, answers, and is checked by `doctor`", async () => {
    const { world, dingtalk } = await openDingTalk({ missingScopes: ["Card.Streaming.Write"] });
    world.configure(exampleConfig({ channels: {} }));
    world.script(() => ({ text: "**here** I am" }));
    const settings = Object.entries({ ...credentials, apiBaseUrl: dingtalk.url }).flatMap(([name, value]) => [
      "--set",
      `${name}=${value}`,
    ]);
    const options = ["--channel", "dingtalk", "--owner", person.staffId, ...settings];
    const setUp = await world.command(["init", "--yes", ...options]);
    expect(setUp).toMatchObject({ code: 0, err: expect.stringContaining("The settings work") });
    expect(setUp.err).not.toContain("webhooks");
    const started = await world.start();
    await eventually(() => dingtalk.stream.count() > 0, "it connects");
    expect(await dingtalk.stream.push(textMessage("are you there?"))).toBe(true);
    await started.settled();
    expect(dingtalk.sent).toMatchObject([{ to: { userId: person.staffId }, text: "**here** I am" }]);
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/^ok +channel dingtalk\/main credentials: /m);
    expect(out).toMatch(/^ok +channel dingtalk\/main messages: /m);
    expect(out).toMatch(/channel dingtalk\/main streaming: .*may not stream into cards/);
    expect(out).toContain("Grant the app the permission Card.Streaming.Write");
    expect(out).not.toContain(credentials.clientSecret);
    await started.stop();
  });

  it("answers a mention in an allowed group, with the quoted text apart from the question", async () => {
    const { world, dingtalk } = await openDingTalk();
    const asked: string[] = [];
    world.script((request) => {
      asked.push(JSON.stringify(request));
      return { text: "yes" };
    });
    const access = { allow: [`dingtalk:${person.staffId}`], groups: { allow: [`dingtalk:${groupId}`] } };
    const started = await start(world, dingtalk, access);
    const repliedMsg = { msgId: "msgOld", msgType: "text", content: { text: "The harbour is closed." } };
    const fields = { text: { content: " is that right?", isReplyMsg: true, repliedMsg } };
    for (const message of [
      inGroup(textMessage("", { fields })),
      { ...groupMention("not for you"), isInAtList: false, atUsers: [] },
    ])
      expect(await dingtalk.stream.push(message)).toBe(true);
    await started.settled();
    expect(dingtalk.sent).toMatchObject([{ to: { conversationId: groupId }, text: "yes" }]);
    expect(asked.at(-1)).toContain("The harbour is closed.");
    await started.stop();
  });

  it("lets an answer grow in one card, which stays as the answer", async () => {
    const { world, dingtalk } = await openDingTalk();
    const text = "It looks around first, and then it writes all of this down.";
    world.script([{ text, chunks: 12, deltaMs: 150 }]);
    const started = await start(world, dingtalk);
    await dingtalk.stream.push(textMessage("tell me"));
    await started.settled();
    expect(dingtalk.sent).toMatchObject([{ kind: "card", text, isFinished: true }]);
    expect(dingtalk.sent[0]?.shown.length).toBeGreaterThan(1);
    await started.stop();
  });

  it("answers once although the creation of its card got no response", async () => {
    const { world, dingtalk } = await openDingTalk({ repeatedCard: "deliver" });
    const text = "It looks around first, and then it writes all of this down.";
    world.script([{ text, chunks: 12, deltaMs: 150 }]);
    const started = await start(world, dingtalk);
    dingtalk.fail({ kind: "cut", path: "createAndDeliver" });
    await dingtalk.stream.push(textMessage("tell me"));
    await started.settled();
    expect(dingtalk.sent).toMatchObject([{ kind: "card", text, isFinished: true }]);
    const rows = await inStore(world, (store) => store.outbox.list({ states: STATES }));
    expect(rows.map(({ state }) => state)).toEqual(["sent"]);
    await started.stop();
  });

  it("answers once although DingTalk delivers the message again while it is answered", async () => {
    const { world, dingtalk } = await openDingTalk({ redeliverMs: 50 });
    world.script(() => ({ text: "once" }));
    const started = await start(world, dingtalk);
    const message = textMessage("question", { msgId: "msg1" });
    for (const messageId of ["frame-1", "frame-1", "frame-2"])
      expect(await dingtalk.stream.push(message, { messageId })).toBe(true);
    await started.settled();
    expect(dingtalk.sent.map(({ text }) => text)).toEqual(["once"]);
    expect(world.anthropic.requests).toHaveLength(1);
    await started.stop();
  });

  it("shows a message whose response is lost as uncertain, informs the person, and never repeats it", async () => {
    const { world, dingtalk } = await openDingTalk();
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await start(world, dingtalk);
    for (let round = 0; round < 3; round += 1) {
      dingtalk.fail({ kind: "cut" });
      await dingtalk.stream.push(textMessage(`question ${round}`));
      await eventually(
        () => dingtalk.sent.some(({ text }) => text === `answer ${round}`),
        "the answer is out",
      );
      await started.settled();
    }
    const rows = await inStore(world, (store) => store.outbox.list({ states: STATES }));
    for (let round = 0; round < 3; round += 1)
      expect(dingtalk.sent.filter(({ text }) => text.includes(`answer ${round}`))).toHaveLength(1);
    expect(rows.filter(({ state }) => state === "uncertain")).toHaveLength(3);
    await started.stop();
  });
});
