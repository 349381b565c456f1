import { DatabaseSync } from "node:sqlite";
import {
  type FeishuEvent,
  fileMessage,
  groupMention,
  imageMessage,
  postMessage,
  push,
  recalled,
  replyMessage,
  textMessage,
  threadMessage,
} from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  APP,
  exampleConfig,
  feishuAccount,
  inboxRows,
  LI,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { fences, modelRequests } from "../support/model-requests.ts";
import { pauseAt } from "../support/paused-model.ts";

const challenge = { challenge: "ajls384kdjx98XX", type: "url_verification" };

async function rows(world: World) {
  return inboxRows(world);
}

function lastAsked(world: World): string {
  return modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text ?? "";
}

describe("the Feishu webhook", () => {
  it.each([
    ["encrypted", APP.encryptKey],
    ["plain", undefined],
  ])("answers the URL challenge, %s", async (_, encryptKey) => {
    const world = await openWorld();
    const accounts = { main: feishuAccount({ encryptKey }) };
    world.configure(exampleConfig({ channels: { feishu: { accounts } } }));
    const { url } = await world.start();
    const options = { token: APP.verificationToken, encryptKey };
    const { headers, ...request } = push(challenge, options);
    // Feishu does not sign the challenge.
    const answer = await fetch(`${url}/channels/feishu/main/events`, {
      ...request,
      headers: { "content-type": headers["content-type"] ?? "" },
    });
    expect([answer.status, await answer.json()]).toEqual([200, { challenge: challenge.challenge }]);
    const wrong = await fetch(
      `${url}/channels/feishu/main/events`,
      push(challenge, { ...options, token: "a guess" }),
    );
    expect(wrong.status).toBe(401);
  });

  it("rejects requests that are not from Feishu before any work", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const started = await world.start();
    const url = `${started.url}/channels/feishu/main/events`;
    const event = textMessage("hello", { senderId: ZHANG });
    const good = push(event, APP_KEYS);
    const json = { "content-type": "application/json" };
    const post = async (init: RequestInit, to = url): Promise<number> =>
      (await fetch(to, { method: "POST", ...init })).status;

    expect(await post(push(event, { ...APP_KEYS, token: "a guess" }))).toBe(401);
    expect(await post(push(event, { ...APP_KEYS, encryptKey: "another key" }))).toBe(401);
    expect(await post({ ...good, headers: { ...good.headers, "x-lark-signature": "0".repeat(64) } })).toBe(
      401,
    );
    expect(await post({ ...good, headers: json })).toBe(401);
    expect(await post({ ...good, body: `${good.body} ` })).toBe(401);
    // In clear, though the account has a key.
    expect(await post(push(event, { token: APP.verificationToken }))).toBe(401);
    expect(await post(push(event, { ...APP_KEYS, timestamp: Math.floor(Date.now() / 1000) - 86_400 }))).toBe(
      401,
    );
    for (const body of ["", "{", "[]", "null", '"text"', "\u0000", "{}"])
      expect([400, 401]).toContain(await post({ body, headers: json }));
    expect(
      await post(
        push({ schema: "2.0", header: { event_type: "im.message.receive_v1" }, event: {} }, APP_KEYS),
      ),
    ).toBe(400);
    expect(await post(push({ anything: true }, APP_KEYS))).toBeGreaterThanOrEqual(400);
    expect(await post({ body: "x".repeat(1_000_001), headers: json })).toBe(413);
    expect(await post({ body: streamOf(2_000_000), headers: json, duplex: "half" })).toBe(413);
    expect(await post(good, `${started.url}/channels/feishu/other/events`)).toBe(404);
    expect(await post(good, `${started.url}/channels/slack/main/events`)).toBe(404);
    expect((await fetch(url)).status).toBe(405);

    expect(await rows(world)).toEqual([]);
    expect(world.anthropic.requests).toEqual([]);
    expect(world.feishu.sent).toEqual([]);
    // The gateway is none the worse for it.
    world.script([{ text: "hi" }]);
    expect((await started.post(event)).status).toBe(200);
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
  });

  it("answers 200 only after the message is committed", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([{ text: "hi" }]);
    const child = await world.startChild();
    const database = new DatabaseSync(world.home.databaseFile, { timeout: 10_000 });
    // Nobody else can commit until this transaction ends.
    database.exec("BEGIN IMMEDIATE");
    const answer = child.post(textMessage("hello", { messageId: "om_1", senderId: ZHANG }));
    // Others are answered meanwhile.
    const others = async (): Promise<string> => {
      for (let count = 0; count < 50; count += 1) await (await fetch(`${child.url}/healthz`)).text();
      return "waiting";
    };
    expect(await Promise.race([answer.then(() => "answered"), others()])).toBe("waiting");
    database.exec("ROLLBACK");
    expect((await answer).status).toBe(200);
    const found = database.prepare("SELECT count(*) AS n FROM inbox").get();
    database.close();
    expect(found).toEqual({ n: 1 });
  });

  it("accepts an event once, however often it is delivered, also after a restart", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([{ text: "one answer" }]);
    const event = textMessage("hello", { senderId: ZHANG });
    /** The same message under another event id. */
    const again: FeishuEvent = { ...event, header: { ...event.header, event_id: "ev_another" } };
    const first = await world.start();
    const statuses = await Promise.all(
      [event, event, again, event].map(async (one) => (await first.post(one)).status),
    );
    expect(statuses).toEqual([200, 200, 200, 200]);
    await first.settled();
    expect((await first.post(event)).status).toBe(200);
    await first.stop();
    const second = await world.start();
    expect((await second.post(event)).status).toBe(200);
    expect((await second.post(again)).status).toBe(200);
    await second.settled();
    expect(await rows(world)).toHaveLength(1);
    expect(world.anthropic.requests).toHaveLength(1);
    expect(world.feishu.sent).toHaveLength(1);
  });

  it("requests a redelivery if too many messages wait", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ gateway: { port: 0, auth: { token: TOKEN }, inboxLimit: 1 } }));
    const { goOn } = pauseAt(world, 0, [{ text: "late" }, { text: "second" }]);
    const started = await world.start();
    expect((await started.post(textMessage("1", { senderId: ZHANG, chatId: "oc_1" }))).status).toBe(200);
    const refused = textMessage("2", { senderId: LI, chatId: "oc_2" });
    const answer = await started.post(refused);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).not.toBeNull();
    expect((await started.post(refused)).status).toBe(503);
    expect(started.log().match(/the inbox is full/g)).toHaveLength(1);
    goOn();
    await started.settled();
    expect((await started.post(refused)).status).toBe(200);
    await started.settled();
    expect(world.feishu.sent).toHaveLength(2);
  });

  it("reads rich texts, images, files, mentions, replies and threads", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script(() => ({ text: "好" }));
    const started = await world.start();
    const said = async (event: unknown): Promise<string> => {
      expect((await started.post(event)).status).toBe(200);
      await started.settled();
      return lastAsked(world);
    };
    const direct = { senderId: ZHANG, chatId: "oc_direct" };

    const rich = postMessage(
      [
        [
          { tag: "text", text: "看看 " },
          { tag: "a", text: "这里", href: "https://example.com/" },
        ],
        [{ tag: "code_block", language: "PYTHON", text: "print(1)\n" }],
      ],
      { ...direct, title: "标题" },
    );
    const richText = await said(rich);
    for (const part of ["标题", "看看", "https://example.com/", "print(1)"]) expect(richText).toContain(part);

    world.feishu.addResource("om_image", "img_1", PIXEL, { mimeType: "image/png" });
    expect(await said(imageMessage("img_1", { ...direct, messageId: "om_image" }))).toContain("[image");
    const content = modelRequests(world.anthropic).at(-1)?.body.messages.at(-1)?.content;
    expect(content).toContainEqual(
      expect.objectContaining({
        type: "image",
        source: { type: "base64", media_type: "image/png", data: Buffer.from(PIXEL).toString("base64") },
      }),
    );

    expect(await said(fileMessage("file_1", '报告 "最终".pdf', direct))).toMatch(/\[file ".*报告.*\.pdf"/);

    const group = { senderId: LI, chatId: "oc_group" };
    const mentioned = await said(groupMention("大家好", world.feishu.bot, group));
    expect(mentioned).toContain("李四: 大家好");
    expect(fences(mentioned)[0]).toMatchObject({ chat_type: "group", role: "guest" });
    expect(fences(mentioned)[1]).toMatchObject({ is_group_chat: true, was_mentioned: true });

    // An answer to the bot's own message counts as addressed to it.
    const own = world.feishu.sent.at(-1)?.messageId ?? "";
    expect(await said(replyMessage("继续", own, group))).toContain("李四: 继续");

    // Threads are conversations of their own, and are answered where they are.
    const thread = { threadId: "omt_1", rootId: "om_root" };
    world.feishu.plant({
      messageId: "om_root",
      chatId: "oc_group",
      msgType: "text",
      content: "{}",
      senderId: LI,
      threadId: "omt_1",
    });
    const inThread = groupMention("在话题里", world.feishu.bot, { ...group, ...thread, parentId: "om_root" });
    expect(fences(await said(inThread))[1]).toMatchObject({ thread_id: "omt_1" });
    expect(modelRequests(world.anthropic).at(-1)?.messages).toHaveLength(1);
    expect(world.feishu.sent.at(-1)).toMatchObject({ threadId: "omt_1", chatId: "oc_group" });
    expect(threadMessage("x", thread).event).toHaveProperty(["message", "thread_id"], "omt_1");
  });

  it("stores unaddressed group messages, and shows them once when the bot is addressed", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script(() => ({ text: "好" }));
    const started = await world.start();
    const group = { chatType: "group", chatId: "oc_group" } as const;
    await started.post(textMessage("午饭吃什么", { ...group, senderId: LI, messageId: "om_1" }));
    await started.post(textMessage("面条", { ...group, senderId: ZHANG, messageId: "om_2" }));
    await started.settled();
    expect(world.anthropic.requests).toEqual([]);
    expect((await rows(world)).map(({ state, detail }) => [state, detail?.rule])).toEqual([
      ["ignored", "not_addressed"],
      ["ignored", "not_addressed"],
    ]);
    await started.post(groupMention("你说呢", world.feishu.bot, { ...group, senderId: LI }));
    await started.settled();
    expect(fences(lastAsked(world))).toHaveLength(4);
    expect(fences(lastAsked(world))[3]).toMatchObject([{ text: "午饭吃什么" }, { text: "面条" }]);
    await started.post(groupMention("再说一遍", world.feishu.bot, { ...group, senderId: LI }));
    await started.settled();
    expect(fences(lastAsked(world))).toHaveLength(3);
    expect(JSON.stringify(modelRequests(world.anthropic).at(-1)?.messages).split("面条")).toHaveLength(2);
  });

  it("drops a message that was recalled before its run", async () => {
    const world = await openWorld();
    // It never has its turn: the conversation is not quiet for long enough before the test is over.
    world.configure(exampleConfig({ session: { queue: { debounceMs: 600_000 } } }));
    const started = await world.start();
    await started.post(textMessage("secret", { senderId: ZHANG, messageId: "om_1" }));
    await started.post(recalled("om_1"));
    await started.settled();
    expect(
      (await rows(world))
        .filter(({ kind }) => kind === "message")
        .map(({ state, detail }) => [state, detail?.rule]),
    ).toEqual([["ignored", "deleted"]]);
    expect(world.anthropic.requests).toEqual([]);
  });
});

const APP_KEYS = { token: APP.verificationToken, encryptKey: APP.encryptKey };
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A body that does not say how long it is. */
function streamOf(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, 65_536);
      if (size === 0) return controller.close();
      left -= size;
      controller.enqueue(new Uint8Array(size).fill(120));
    },
  });
}
