import { setTimeout as delay } from "node:timers/promises";
import type { FakeWecom } from "@signalbox/testkit/wecom";
import { textMessage, wecomEvent, wecomMessage } from "@signalbox/testkit/wecom";
import { WSClient } from "@wecom/aibot-node-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { limits } from "../src/limits.ts";
import { botId, never, openBench, secret, startServer } from "./harness.ts";

const to = { type: "single", id: "zhangsan" } as const;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const card = { card_type: "button_interaction", main_title: { title: "OK?" }, task_id: "task-1" };

/** Connects WeCom's own SDK to a fake server. */
async function connect(fakeServer: FakeWecom, options: { readonly secret?: string } = {}) {
  const client = new WSClient({
    botId,
    secret: options.secret ?? secret,
    wsUrl: fakeServer.wsUrl,
    logger: quiet,
    reconnectInterval: 10,
    maxAuthFailureAttempts: 1,
  });
  onTestFinished(() => client.disconnect());
  const errors: string[] = [];
  client.on("error", ({ message }) => errors.push(message));
  client.connect();
  await expect.poll(() => fakeServer.connections() > 0 || errors.length > 0).toBe(true);
  return { client, errors };
}

async function open() {
  const fakeServer = await startServer();
  onTestFinished(() => fakeServer.stop());
  const { client } = await connect(fakeServer);
  return { fakeServer, client };
}

type Frames = FakeWecom["frames"];

/** Returns the frames as text, with ids replaced, because each client generates its own. */
function normalized(frames: Frames, ids: readonly (readonly [RegExp, string])[] = []): readonly string[] {
  const replacements = [[/"req_id":"(\w+?)_\d{13}_[0-9a-f]{8}"/g, '"req_id":"$1_ID"'] as const, ...ids];
  return frames.map(({ text }) => replacements.reduce((all, [from, by]) => all.replaceAll(from, by), text));
}

describe("WeCom's SDK against the fake server", () => {
  it("receives messages of all types and replies with a stream", async () => {
    const { fakeServer, client } = await open();
    const received: string[] = [];
    for (const type of ["text", "image", "mixed", "voice", "file", "video"] as const)
      client.on(`message.${type}`, ({ body }) => received.push(`${type} ${body?.msgid}`));
    const frame = new Promise<Parameters<typeof client.replyStream>[0]>((resolve) =>
      client.once("message.text", resolve),
    );
    fakeServer.pushMessage(textMessage("hello", { msgid: "m1" }));
    for (const type of ["image", "mixed", "voice", "file", "video"])
      fakeServer.pushMessage(wecomMessage({ msgtype: type, [type]: {} }, { msgid: type }));
    await client.replyStream(await frame, "stream-1", "thin", false);
    await client.replyStream(await frame, "stream-1", "think", true);
    expect(fakeServer.sent).toMatchObject([
      { id: "stream-1", chatId: "zhangsan", shown: ["thin", "think"], isFinished: true },
    ]);
    await expect.poll(() => received).toHaveLength(6);
    await expect(client.replyStream(await frame, "stream-1", "late", true)).rejects.toMatchObject({
      errcode: 846608,
    });
  });

  it("welcomes a person and updates a card within five seconds, and not later", async () => {
    const { fakeServer, client } = await open();
    const events: Parameters<typeof client.replyWelcome>[0][] = [];
    client.on("event", (frame) => events.push(frame));
    fakeServer.pushEvent(wecomEvent("enter_chat"));
    fakeServer.pushEvent(wecomEvent("template_card_event", { event_key: "yes", task_id: "task-1" }));
    await expect.poll(() => events).toHaveLength(2);
    const [entered, clicked] = events;
    if (entered === undefined || clicked === undefined) throw new Error("An event is missing.");
    const text = { msgtype: "text", text: { content: "hi" } } as const;
    await client.replyWelcome(entered, text);
    await client.updateTemplateCard(clicked, card);
    await expect(client.replyStream(entered, "s", "no", true)).rejects.toMatchObject({ errcode: 846605 });
    fakeServer.age(5_001);
    await expect(client.replyWelcome(entered, text)).rejects.toMatchObject({ errcode: 846605 });
    await expect(client.updateTemplateCard(clicked, card)).rejects.toMatchObject({ errcode: 846605 });
  });

  it("is refused where WeCom refuses", async () => {
    const { fakeServer, client } = await open();
    const unknown = { headers: { req_id: "unknown" } };
    fakeServer.expectReply("req-1", "zhangsan");
    const known = { headers: { req_id: "req-1" } };
    const refused = async (work: Promise<unknown>, errcode: number) =>
      expect(await work.catch((error: unknown) => error)).toMatchObject({ errcode });
    await refused(client.replyStream(unknown, "s1", "x", true), 846605);
    await refused(client.replyStream(known, "s1", "字".repeat(6_827), true), 45002);
    await refused(client.sendMessage("stranger", { msgtype: "markdown", markdown: { content: "x" } }), 40003);
    await refused(client.sendMediaMessage("zhangsan", "image", "no-such-media"), 40007);
    await client.replyStream(known, "s2", "on time", false);
    fakeServer.age(600_001);
    await refused(client.replyStream(known, "s2", "late", true), 846608);
    fakeServer.age(86_400_000);
    await refused(client.replyStream(known, "s3", "a day later", true), 846605);
    const limited = await startServer({ rateLimit: true });
    onTestFinished(() => limited.stop());
    const { client: other } = await connect(limited);
    const push = () => other.sendMessage("zhangsan", { msgtype: "markdown", markdown: { content: "x" } });
    for (let count = 0; count < 30; count += 1) await push();
    await refused(push(), 45009);
  });

  it("is rejected with a wrong secret", async () => {
    const fakeServer = await startServer();
    onTestFinished(() => fakeServer.stop());
    const { errors } = await connect(fakeServer, { secret: "a guess" });
    expect(errors[0]).toContain("853000");
    expect(fakeServer.connections()).toBe(0);
  });

  it("is told when another program connects as the same bot", async () => {
    const { fakeServer, client } = await open();
    const displaced = new Promise((resolve) => client.once("event.disconnected_event", resolve));
    await connect(fakeServer);
    await displaced;
    await expect.poll(() => client.isConnected).toBe(false);
  });

  it("downloads and decrypts an attachment", async () => {
    const { fakeServer, client } = await open();
    const content = Buffer.from("the content of a file");
    const headers = { "content-disposition": "attachment; filename*=UTF-8''%E8%AE%A1%E5%88%92.txt" };
    const { url, aeskey } = fakeServer.addAttachment(content, headers);
    expect(await client.downloadFile(url, aeskey)).toEqual({ buffer: content, filename: "计划.txt" });
  });
});

describe("frames of the channel", () => {
  it("equal those of WeCom's SDK, except for ids", async () => {
    const fakeServer = await startServer();
    onTestFinished(() => fakeServer.stop());
    fakeServer.expectReply("req-1", "zhangsan");
    const bytes = Buffer.alloc(600_000, "signal");
    const { client } = await connect(fakeServer);
    const frame = { headers: { req_id: "req-1" } };
    await client.replyStream(frame, "draft-1.0", "thin", false);
    await client.replyStream(frame, "draft-1.0", "think **hard**", true);
    await client.replyStream(frame, "key-1.0", "a reply", true);
    await client.sendMessage("zhangsan", { msgtype: "markdown", markdown: { content: "a push" } });
    const uploaded = await client.uploadMedia(bytes, { type: "file", filename: "计划.bin" });
    await client.sendMediaMessage("zhangsan", "file", uploaded.media_id);
    client.disconnect();
    const theirs = normalized(fakeServer.frames);

    const { channel, fakeServer: ours } = await openBench();
    onTestFinished(() => channel.stop({ drainMs: 0 }));
    onTestFinished(() => ours.stop());
    ours.expectReply("req-1", "zhangsan");
    const replyTo = `m1:req-1:${Math.floor(Date.now() / 1_000).toString(36)}`;
    const draft = await channel.openDraft?.(to, { idempotencyKey: "draft-1", signal: never, replyTo });
    await draft?.update("thin");
    await draft?.finalize({ parts: [{ type: "markdown", text: "think **hard**" }] });
    const options = { signal: never, openMedia: async () => new Blob([bytes]).stream() };
    const text = (content: string) => [{ type: "text", text: content }] as const;
    await channel.send(to, { parts: text("a reply"), replyTo }, { ...options, idempotencyKey: "key-1" });
    await channel.send(to, { parts: text("a push") }, { ...options, idempotencyKey: "key-2" });
    const file = {
      type: "media",
      kind: "file",
      name: "计划.bin",
      mimeType: "x/y",
      size: bytes.length,
      ref: 1,
    } as const;
    await channel.send(to, { parts: [file] }, { ...options, idempotencyKey: "key-3" });

    const generated = [[/"req_id":"aibot_send_msg_key-\d\.0"/g, '"req_id":"aibot_send_msg_ID"'] as const];
    // The SDK sends the pieces of a small upload concurrently, the channel one after the other.
    expect(normalized(ours.frames, generated).toSorted()).toEqual(theirs.toSorted());
    expect(theirs.length).toBe(1 + 3 + 1 + 4 + 1);
  });

  it("authenticate and send heartbeats like WeCom's SDK", async () => {
    const fakeServer = await startServer();
    onTestFinished(() => fakeServer.stop());
    const client = new WSClient({
      botId,
      secret,
      wsUrl: fakeServer.wsUrl,
      logger: quiet,
      heartbeatInterval: 10,
    });
    client.connect();
    await expect.poll(() => fakeServer.frames.length).toBeGreaterThan(2);
    client.disconnect();
    const theirs = normalized(fakeServer.frames).slice(0, 2);

    const { channel, fakeServer: ours } = await openBench(
      {},
      {
        context: {
          // The first heartbeat is due at once.
          clock: {
            now: Date.now,
            delay: (ms, signal) => delay(ms === limits.heartbeatMs ? 1 : ms, undefined, { signal }),
          },
        },
      },
    );
    onTestFinished(() => ours.stop());
    await expect.poll(() => ours.frames.length).toBeGreaterThan(1);
    await channel.stop({ drainMs: 0 });
    expect(normalized(ours.frames).slice(0, 2)).toEqual(theirs);
  });
});
