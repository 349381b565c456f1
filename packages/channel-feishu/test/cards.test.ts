import { groupMention, messageEvent, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { openBench } from "./harness.ts";

const elements = [
  { tag: "markdown", content: "Host **web-3**" },
  {
    tag: "table",
    columns: [{ name: "load", display_name: "Load" }],
    rows: [{ load: "97 %" }],
  },
];
const alert = { schema: "2.0", header: { title: { content: "CPU alert" } }, body: { elements } };
const words = "CPU alert\nHost **web-3**\n97 %";

describe("a card", () => {
  it.each([
    ["of another app", alert],
    ["that is a text in another object", { user_dsl: JSON.stringify(alert) }],
  ])("%s has its words if it is quoted", async (_, card) => {
    await using bench = await openBench();
    const content = JSON.stringify(card);
    const place = {
      messageId: "om_card",
      chatId: "oc_group",
      senderId: "cli_other",
      senderType: "app",
    } as const;
    bench.fakeServer.plant({ ...place, msgType: "interactive", content });
    await bench.post(groupMention("why?", { openId: "ou_bot", name: "Signalbox" }, { parentId: "om_card" }));
    expect(bench.events).toMatchObject([{ text: "why?", references: [{ kind: "reply", text: words }] }]);
  });

  it("that was made from a template has the values of its variables", async () => {
    await using bench = await openBench();
    const data = { template_id: "t", template_variable: { host: "web-3", load: 97 } };
    const content = JSON.stringify({ type: "template", data });
    const place = { messageId: "om_card", chatId: "oc_direct", senderId: "cli_other" };
    bench.fakeServer.plant({ ...place, msgType: "interactive", content });
    await bench.post(textMessage("why?", { parentId: "om_card" }));
    expect(bench.events).toMatchObject([{ references: [{ text: "web-3\n97" }] }]);
  });

  it("from a person is a forward, with the words that the event lacks", async () => {
    await using bench = await openBench();
    const place = { messageId: "om_card", chatId: "oc_direct", senderId: "ou_sender" };
    bench.fakeServer.plant({ ...place, msgType: "interactive", content: JSON.stringify(alert) });
    const stub = { title: null, elements: [[{ tag: "text", text: "请升级至最新版本客户端，以查看内容" }]] };
    await bench.post(messageEvent("interactive", stub, { messageId: "om_card" }));
    expect(bench.events).toMatchObject([{ text: "", references: [{ kind: "forward", text: words }] }]);
  });
});

describe("a message of a rare type", () => {
  it.each([
    ["vote", { topic: "Lunch?", options: ["Noodles", "Rice"] }, "[vote message]\nLunch?\nNoodles\nRice"],
    [
      "todo",
      { task_id: "1", summary: { title: "", content: [[{ tag: "text", text: "Call Li" }]] } },
      "[todo message]\nCall Li",
    ],
    ["share_calendar_event", { summary: "Fair", start_time: "1" }, "[share_calendar_event message]\nFair"],
  ])("%s has its words", async (type, content, text) => {
    await using bench = await openBench();
    await bench.post(messageEvent(type, content));
    expect(bench.events).toMatchObject([{ type: "message", text }]);
  });
});

it("an answer to a thread that accepts no replies reaches the chat", async () => {
  await using bench = await openBench();
  bench.fakeServer.fail({ kind: "code", code: 230_071, path: "/reply", times: 20 });
  const message = { parts: [{ type: "text", text: "Here it is" }] } as const;
  const signal = new AbortController().signal;
  await bench.channel.send({ id: "oc_group", rootId: "om_1" }, message, { idempotencyKey: "k", signal });
  expect(bench.fakeServer.sent).toMatchObject([{ chatId: "oc_group", content: '{"text":"Here it is"}' }]);
  expect(bench.fakeServer.sent[0]?.parentId).toBeUndefined();
});
