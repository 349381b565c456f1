import { groupMention, messageObject, person, textMessage, update } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import { openBench, webhookSecret } from "./harness.ts";

const chat = { id: -1_001_234, type: "supergroup" } as const;
const at = 1_800_000_000_000;
const origin = {
  type: "user",
  sender_user: { id: 7, is_bot: false, first_name: "Carla" },
  date: 1_750_000_000,
};

const comment = (text = "what about this?") => groupMention(text, "signalbox_bot", { chat, at });
const forward = (text: string, more: { readonly at?: number; readonly from?: typeof person } = {}) =>
  textMessage(text, { chat, at, ...more, fields: { forward_origin: origin } });

describe("a message that is forwarded with a comment", () => {
  it("is one message together with the comment that addresses the bot", async () => {
    await using bench = await openBench();
    const pushed = [comment(), forward("The harbour is closed."), forward("Until Monday.")];
    await Promise.all(pushed.map((update) => bench.fakeServer.push(update)));
    expect(bench.events).toMatchObject([
      {
        text: "what about this?",
        addressed: "mention",
        references: [
          { kind: "forward", text: "The harbour is closed.", sender: { name: "Carla" } },
          { kind: "forward", text: "Until Monday." },
        ],
      },
    ]);
  });

  it("is addressed like the comment if it arrives separately", async () => {
    await using bench = await openBench({ transport: "webhook", webhookSecret });
    for (const update of [comment(), forward("The harbour is closed.", { at: at + 2_000 })]) {
      const headers = {
        "content-type": "application/json",
        "x-telegram-bot-api-secret-token": webhookSecret,
      };
      const request = { method: "POST", headers, body: JSON.stringify(update) };
      await bench.channel.webhook?.(new Request("http://gateway/updates", request));
    }
    expect(bench.events).toMatchObject([{ addressed: "mention" }, { addressed: "mention", text: "" }]);
  });

  it.each([
    ["much later", { at: at + 60_000 }],
    ["by another person", { from: { ...person, id: 5_002 } }],
  ])("addresses nobody if it was forwarded %s", async (_, more) => {
    await using bench = await openBench();
    await Promise.all(
      [comment(), forward("The harbour is closed.", more)].map((one) => bench.fakeServer.push(one)),
    );
    expect(bench.events).toMatchObject([{ addressed: "mention" }, { addressed: "none" }]);
  });

  it("is only context if the comment addresses nobody", async () => {
    await using bench = await openBench();
    const plain = textMessage("look", { chat, at });
    await Promise.all([plain, forward("The harbour is closed.")].map((one) => bench.fakeServer.push(one)));
    expect(bench.events).toMatchObject([
      { addressed: "none", text: "look", references: [{ kind: "forward" }] },
    ]);
  });
});

it("a reply to an anonymous administrator or a channel's post names the chat as its author", async () => {
  await using bench = await openBench();
  const placeholder = { id: 777_000, is_bot: false, first_name: "Telegram" };
  const post = {
    message_id: 7,
    date: 1_750_000_000,
    from: placeholder,
    chat,
    text: "The fair is on Monday.",
  };
  const reply_to_message = { ...post, sender_chat: { id: -1_009, type: "channel", title: "News" } };
  await bench.fakeServer.push(groupMention("when?", "signalbox_bot", { chat, fields: { reply_to_message } }));
  expect(bench.events).toMatchObject([
    {
      references: [{ kind: "reply", sender: { id: "-1009", name: "News" }, text: "The fair is on Monday." }],
    },
  ]);
});

it("takes an album that is forwarded with a comment as one message with it", async () => {
  await using bench = await openBench();
  const item = (fileId: string) => {
    const photo = [{ file_id: fileId, file_unique_id: fileId, width: 10, height: 10 }];
    const fields = { media_group_id: "7", photo, forward_origin: origin };
    return update("message", messageObject(undefined, { chat, at, fields }));
  };
  const pushed = [comment(), item("a"), item("b"), forward("The harbour is closed.")];
  await Promise.all(pushed.map((one) => bench.fakeServer.push(one)));
  expect(bench.events).toMatchObject([
    {
      text: "what about this?",
      references: [
        { kind: "forward", media: [{ ref: { fileId: "a" } }] },
        { kind: "forward", media: [{ ref: { fileId: "b" } }] },
        { kind: "forward", text: "The harbour is closed." },
      ],
    },
  ]);
});

it("loses none of many messages that are forwarded with a comment", async () => {
  await using bench = await openBench();
  const texts = Array.from({ length: 25 }, (_, number) => `message ${number}`);
  const pushed = [comment(), ...texts.map((text) => forward(text))];
  await Promise.all(pushed.map((update) => bench.fakeServer.push(update)));
  const messages = bench.events.flatMap((event) => (event.type === "message" ? [event] : []));
  expect(messages.map(({ addressed }) => addressed)).toEqual(["mention", "mention", "mention"]);
  expect(messages.flatMap(({ references = [] }) => references.map(({ text }) => text))).toEqual(texts);
});
