import {
  type FakeWecom,
  sealCallback,
  startWecom,
  textMessage,
  wecomMessage,
} from "@signalbox/testkit/wecom";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, inStore, openWorld, type World } from "../support/harness.ts";

const credentials = { botId: "aib-bot-0123", secret: "secret-of-the-long-connection" };
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

async function openWecom(): Promise<{ readonly world: World; readonly wecom: FakeWecom }> {
  const world = await openWorld();
  const wecom = await startWecom(credentials);
  onTestFinished(() => wecom.stop());
  return { world, wecom };
}

function configure(world: World, wecom: FakeWecom, access: object = { dm: "open" }): void {
  const account = { ...credentials, wsUrl: wecom.wsUrl, apiBaseUrl: wecom.url };
  world.configure(exampleConfig({ channels: { wecom: { accounts: { main: account } } }, access }));
}

/** Returns what each of the bot's messages shows at the end. */
const shown = ({ sent }: FakeWecom) => sent.map((message) => message.shown.at(-1));

describe("WeCom", () => {
  it("is set up by `init`, answers, and is checked by `doctor`", async () => {
    const { world, wecom } = await openWecom();
    world.configure(exampleConfig({ channels: {} }));
    world.script(() => ({ text: "**here** I am" }));
    const settings = Object.entries({
      ...credentials,
      wsUrl: wecom.wsUrl,
      apiBaseUrl: wecom.url,
    }).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
    const setUp = await world.command([
      ...["init", "--yes", "--channel", "wecom", "--owner", "zhangsan"],
      ...settings,
    ]);
    expect(setUp).toMatchObject({ code: 0, err: expect.stringContaining("The settings work.") });
    expect(setUp.err).not.toContain("webhooks");
    const started = await world.start();
    await eventually(() => wecom.connections() > 0, "it connects");
    wecom.pushMessage(textMessage("are you there?"));
    await eventually(() => wecom.sent.some(({ isFinished }) => isFinished), "it answers");
    expect(wecom.sent).toMatchObject([{ chatId: "zhangsan", msgtype: "stream" }]);
    expect(shown(wecom)).toEqual(["**here** I am"]);
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/^ok +channel wecom\/main connection: WeCom has accepted the bot's id and secret$/m);
    expect(out).not.toContain(credentials.secret);
    // `doctor` asks the running gateway: a connection of its own would have closed the gateway's.
    expect(wecom.frames.filter(({ cmd }) => cmd === "aibot_subscribe")).toHaveLength(2);
    await started.stop();
  });

  it("names a wrong secret in `doctor`", async () => {
    const { world, wecom } = await openWecom();
    configure(world, wecom);
    wecom.revoke();
    const started = await world.start();
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/channel wecom\/main.*853000/);
    expect(out).not.toContain(credentials.secret);
    await started.stop();
  });

  it("lets an answer grow in one stream", async () => {
    const { world, wecom } = await openWecom();
    configure(world, wecom);
    const text = "It looks around first, and then it writes all of this down.";
    world.script([{ text, chunks: 12, deltaMs: 120 }]);
    const started = await world.start();
    await eventually(() => wecom.connections() > 0, "it connects");
    wecom.pushMessage(textMessage("tell me"));
    await eventually(() => wecom.sent.some(({ isFinished }) => isFinished), "it answers");
    await started.settled();
    expect(wecom.sent).toHaveLength(1);
    const [{ shown: frames } = { shown: [] }] = wecom.sent;
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) expect(text.startsWith(frame.replace(/…$/, ""))).toBe(true);
    expect(frames.at(-1)).toBe(text);
    await started.stop();
  });

  it("sends each answer exactly once although its acknowledgment is lost", async () => {
    const { world, wecom } = await openWecom();
    configure(world, wecom);
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    await eventually(() => wecom.connections() > 0, "it connects");
    for (let round = 0; round < 3; round += 1) {
      await eventually(() => wecom.connections() > 0, "it reconnects");
      wecom.fail({ kind: "cut" });
      wecom.pushMessage(textMessage(`question ${round}`));
      await eventually(() => shown(wecom).includes(`answer ${round}`), "the answer is out");
      await started.settled();
    }
    const rows = await inStore(world, (store) => store.outbox.list({ states: STATES }));
    expect(shown(wecom)).toEqual(["answer 0", "answer 1", "answer 2"]);
    expect(rows.map(({ state }) => state)).toEqual(["sent", "sent", "sent"]);
    await started.stop();
  });

  it("answers a mention in an allowed group, with the quoted text apart from the question", async () => {
    const { world, wecom } = await openWecom();
    configure(world, wecom, { groups: { allow: ["wecom:wrGroup"] }, allow: ["wecom:zhangsan"] });
    const asked: string[] = [];
    world.script((request) => {
      asked.push(JSON.stringify(request));
      return { text: "yes" };
    });
    const started = await world.start();
    await eventually(() => wecom.connections() > 0, "it connects");
    const quote = { msgtype: "text", text: { content: "The harbour is closed." } };
    const content = { msgtype: "text", text: { content: "@Bot is that right?" } };
    wecom.pushMessage(wecomMessage(content, { chatId: "wrGroup", quote }));
    await eventually(() => wecom.sent.some(({ isFinished }) => isFinished), "it answers");
    expect(wecom.sent).toMatchObject([{ chatId: "wrGroup", isFinished: true }]);
    expect(asked.at(-1)).toContain("The harbour is closed.");
    expect(asked.at(-1)).not.toContain("@Bot");
    await started.stop();
  });

  it("answers callbacks once, and rejects forged and outdated ones", async () => {
    const world = await openWorld();
    const callbacks = {
      token: "token-of-the-callback",
      encodingAesKey: "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
    };
    const wecom = await startWecom({ ...credentials, callbacks });
    onTestFinished(() => wecom.stop());
    const account = { transport: "webhook", ...callbacks, apiBaseUrl: wecom.url };
    const channels = { wecom: { accounts: { main: account } } };
    world.configure(exampleConfig({ channels, access: { dm: "open" } }));
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    const url = `${started.url}/channels/wecom/main/events`;

    const { query, encrypt } = sealCallback(callbacks, "1616140317555161061");
    query.set("echostr", encrypt);
    const checked = await fetch(`${url}?${query}`);
    expect([checked.status, await checked.text()]).toEqual([200, "1616140317555161061"]);

    const question = textMessage("question", { msgid: "m1" });
    for (let delivery = 0; delivery < 2; delivery += 1)
      expect((await wecom.postCallback(url, question)).status).toBe(200);
    await eventually(() => wecom.sent.length > 0, "it answers");
    const outdated = { timestamp: Math.floor(Date.now() / 1_000) - 301 };
    expect((await wecom.postCallback(url, textMessage("outdated"), outdated)).status).toBe(401);
    const forged = await fetch(`${url}?${query}`, {
      method: "POST",
      body: JSON.stringify({ encrypt: "AAAA" }),
    });
    expect(forged.status).toBe(401);
    await started.settled();
    expect(shown(wecom)).toEqual(["answer 0"]);
    await started.stop();
  });
});
