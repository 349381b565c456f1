import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ends, exampleConfig, inStore, LI, openWorld, type World, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { pauseAt } from "../support/paused-model.ts";

const EMPTY_ANSWER = "(The model sent an answer without text. Please try again, or rephrase your message.)";
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

function outbox(world: World) {
  return inStore(world, async (store) => (await store.outbox.list({ states: STATES })).toReversed());
}

/** What a person reads of a sent message. */
function shown(content: string): string {
  const value: unknown = JSON.parse(content);
  const texts: string[] = [];
  const walk = (one: unknown): void => {
    if (Array.isArray(one)) one.forEach(walk);
    else if (one !== null && typeof one === "object")
      for (const [key, inner] of Object.entries(one)) {
        if ((key === "text" || key === "content") && typeof inner === "string") texts.push(inner);
        else walk(inner);
      }
  };
  walk(value);
  return texts.join("");
}

describe("a reply on Feishu", () => {
  it("is plain text, rich text or a card, depending on its content", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const replies = ["只是文字", "**粗体** 和 `代码`", "# 标题\n\n| a | b |\n|---|---|\n| 1 | 2 |"];
    world.script(replies.map((text) => ({ text })));
    const started = await world.start();
    for (const [index] of replies.entries()) {
      await started.post(textMessage(`第 ${index} 个`, { senderId: ZHANG, messageId: `om_${index}` }));
      await started.settled();
    }
    expect(world.feishu.sent.map(({ msgType, parentId }) => [msgType, parentId])).toEqual([
      ["text", "om_0"],
      ["post", "om_1"],
      ["interactive", "om_2"],
    ]);
    expect(world.feishu.sent.map(({ content }) => shown(content))).toEqual(replies);
  });

  it("is a notice if the model wrote nothing, unless it chose silence or the tool has sent a message", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const read = (file_path: string) => ({ toolCalls: [{ name: "read", input: { file_path } }] });
    const sends = { toolCalls: [{ name: "message", input: { action: "send", message: "it is gone" } }] };
    world.files({ "there.txt": "the text" });
    world.script([
      ...[read("gone.txt"), { text: "" }],
      ...[read("gone.txt"), { text: "__SILENT__" }],
      ...[read("there.txt"), { text: "" }],
      ...[read("gone.txt"), read("there.txt"), { text: "" }],
      ...[sends, read("gone.txt"), { text: "" }],
    ]);
    const started = await world.start();
    for (let index = 0; index < 5; index++) {
      await started.post(textMessage("look", { senderId: ZHANG, messageId: `om_${index}` }));
      await started.settled();
    }
    expect(world.feishu.sent.map(({ parentId, content }) => [parentId, shown(content)])).toEqual([
      ["om_0", "(I have no answer: read did not work. Try again, or ask for something else.)"],
      ["om_2", EMPTY_ANSWER],
      ["om_3", EMPTY_ANSWER],
      [undefined, "it is gone"],
    ]);
    expect((await ends(world)).map((end) => Array.isArray(end) && end[0])).toEqual([
      "replied",
      "silent",
      "replied",
      "replied",
      "silent",
    ]);
  });

  it("is omitted for an answer without text if the sender did not address the agent", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: { groups: { mode: "open", requireMention: false } } }));
    world.script(() => ({ text: "" }));
    const started = await world.start();
    const group = { senderId: ZHANG, chatType: "group" } as const;
    await started.post(textMessage("lunch?", { ...group, messageId: "om_1" }));
    await started.settled();
    await started.post(groupMention("and you?", world.feishu.bot, { senderId: ZHANG, messageId: "om_2" }));
    await started.settled();
    expect(world.feishu.sent.map(({ parentId, content }) => [parentId, shown(content)])).toEqual([
      ["om_2", EMPTY_ANSWER],
    ]);
    expect(await ends(world)).toEqual([
      ["silent", "empty"],
      ["replied", "empty"],
    ]);
  });

  it("is preceded by a typing reaction if it is slow, which disappears with it", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ replies: { stream: "off" } }));
    const { goOn } = pauseAt(world, 0, [{ text: "all of this at length" }]);
    const started = await world.start();
    await started.post(textMessage("go on", { senderId: ZHANG, messageId: "om_1" }));
    await expect.poll(() => world.feishu.reactions("om_1")).toEqual(["Typing"]);
    goOn();
    await started.settled();
    await expect.poll(() => world.feishu.reactions("om_1")).toEqual([]);
  });

  it("is split into parts if it is long, each sent once, in order and with a receipt", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const paragraphs = Array.from(
      { length: 400 },
      (_, index) => `第 ${index} 段：${"很长的文字".repeat(12)}。`,
    );
    world.script([{ text: paragraphs.join("\n\n") }]);
    const started = await world.start();
    await started.post(textMessage("写一篇长文", { senderId: ZHANG, messageId: "om_asked" }));
    await started.settled();
    const [row] = await outbox(world);
    const { sent } = world.feishu;
    expect(sent.length).toBeGreaterThan(4);
    expect(row).toMatchObject({ state: "sent", partCount: sent.length });
    expect(row?.receipts).toEqual(sent.map(({ messageId }, part) => ({ part, receipt: { messageId } })));
    expect(sent.map(({ uuid }) => uuid)).toEqual(sent.map((_, part) => `${row?.key}.${part}`));
    expect(sent[0]?.parentId).toBe("om_asked");
    const text = sent.map(({ content }) => shown(content)).join("\n\n");
    expect(paragraphs.filter((paragraph) => !text.includes(paragraph))).toEqual([]);
    expect([...text.matchAll(/第 (\d+) 段/g)].map(([, index]) => Number(index))).toEqual(
      paragraphs.map((_, index) => index),
    );
  });

  it("is retried until it is delivered, and appears once, whatever the platform does", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([{ text: "**one**\n\n".repeat(2_000) }]);
    const started = await world.start();
    // Each of these happens once to a part of the reply: refused, done but never told, a stale token.
    world.feishu.fail({ kind: "rate", method: "POST", path: "/reply", resetSeconds: 0 });
    world.feishu.fail({ kind: "cut", method: "POST", path: "/im/v1/messages" });
    world.feishu.expireTokens();
    await started.post(textMessage("1", { senderId: ZHANG }));
    await started.settled();
    const [row, ...others] = await outbox(world);
    expect(others).toEqual([]);
    expect(row?.state).toBe("sent");
    expect(world.feishu.sent).toHaveLength(row?.partCount ?? 0);
    expect(new Set(world.feishu.sent.map(({ uuid }) => uuid)).size).toBe(row?.partCount);
  });

  it("is a notice without internal details if the model fails", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([
      { error: { status: 401, message: "invalid x-api-key sk-ant-made-up-for-this-very-test" } },
      { error: { status: 400, message: "your organisation Acme has been disabled" } },
      { text: "I am back" },
    ]);
    const started = await world.start();
    for (const text of ["1", "2", "3"]) {
      await started.post(textMessage(text, { senderId: ZHANG }));
      await started.settled();
    }
    const said = world.feishu.sent.map(({ content }) => shown(content));
    expect(said).toHaveLength(3);
    expect(said[0]).toMatch(/could not answer/);
    expect(said[1]).toMatch(/could not answer/);
    expect(said[2]).toBe("I am back");
    expect(said.join()).not.toMatch(/sk-ant|Acme/);
    expect(await ends(world)).toEqual([
      ["failed-reported", "auth"],
      ["failed-reported", "invalid"],
      ["replied", undefined],
    ]);
    // What failed is no part of what the model sees of the conversation but the questions are.
    expect(modelRequests(world.anthropic)).toHaveLength(1);
    expect(JSON.stringify(modelRequests(world.anthropic)[0]?.body)).toContain("[message_id");
    expect(started.log()).not.toContain("sk-ant-made-up-for-this-very-test");
  });

  it("is omitted if the model is silent, and not repeated after the message tool", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([
      { text: "__SILENT__" },
      { toolCalls: [{ id: "toolu_1", name: "message", input: { action: "send", message: "done already" } }] },
      { text: "done already" },
      { toolCalls: [{ id: "toolu_2", name: "message", input: { action: "send", message: "first" } }] },
      { text: "second" },
    ]);
    const started = await world.start();
    for (const text of ["1", "2", "3"]) {
      await started.post(textMessage(text, { senderId: ZHANG }));
      await started.settled();
    }
    expect(world.feishu.sent.map(({ content }) => shown(content))).toEqual([
      "done already",
      "first",
      "second",
    ]);
    expect(await ends(world)).toEqual([
      ["silent", undefined],
      ["silent", undefined],
      ["replied", undefined],
    ]);
  });

  it("goes only to the group of the question", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    await started.post(
      groupMention("hi", world.feishu.bot, { chatId: "oc_1", senderId: LI, messageId: "om_1" }),
    );
    await started.settled();
    await started.post(
      groupMention("hi", world.feishu.bot, { chatId: "oc_2", senderId: LI, messageId: "om_2" }),
    );
    await started.settled();
    expect(world.feishu.sent.map(({ chatId, parentId }) => [chatId, parentId])).toEqual([
      ["oc_1", "om_1"],
      ["oc_2", "om_2"],
    ]);
    expect(modelRequests(world.anthropic)[1]?.messages).toHaveLength(1);
  });

  it("answers all messages that arrived during a run once and in order", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const { goOn } = pauseAt(world, 0, (_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    for (const text of ["a", "b", "c"])
      expect((await started.post(textMessage(text, { senderId: ZHANG }))).status).toBe(200);
    goOn();
    await started.settled();
    expect(await ends(world)).toEqual(Array(3).fill(["replied", undefined]));
    const asked =
      modelRequests(world.anthropic)
        .at(-1)
        ?.messages.flatMap(({ role, text }) => (role === "user" ? text : [])) ?? [];
    expect(asked.join("\n").match(/张三: [abc]$/gm)).toEqual(["张三: a", "张三: b", "张三: c"]);
    const rows = await outbox(world);
    expect(rows.every(({ state }) => state === "sent")).toBe(true);
    expect(world.feishu.sent).toHaveLength(rows.length);
  });
});
