import type { InboundEvent } from "@signalbox/channel";
import { groupMention, messageObject, textMessage, update } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import { openBench } from "./harness.ts";

/** Returns the event of a private message with these fields. */
async function receive(fields: Readonly<Record<string, unknown>>): Promise<InboundEvent | undefined> {
  await using bench = await openBench();
  await bench.fakeServer.push(update("message", messageObject(undefined, { fields })));
  return bench.events[0];
}

describe("a message without text", () => {
  it.each([
    [
      "a checklist",
      {
        checklist: {
          title: "Fair",
          tasks: [
            { id: 1, text: "Book the hall" },
            { id: 2, text: "Print the plan", completion_date: 1_750_000_000 },
          ],
        },
      },
      "[checklist: Fair]\n- [ ] Book the hall\n- [x] Print the plan",
    ],
    ["a game", { game: { title: "Lumberjack", photo: [] } }, "[game: Lumberjack]"],
    ["an invoice", { invoice: { title: "Two tickets", currency: "EUR" } }, "[invoice: Two tickets]"],
    ["a story", { story: { id: 3, chat: { id: -1_009, title: "News" } } }, "[story: News]"],
    ["media that nobody has paid for", { paid_media: { paid_media: [{ type: "preview" }] } }, "[paid media]"],
  ])("describes %s", async (_, fields, text) => {
    expect(await receive(fields)).toMatchObject({ type: "message", text, media: [] });
  });

  it("has the files of paid media", async () => {
    const photo = [{ file_id: "p", width: 10, height: 10 }];
    const paid_media = { star_count: 5, paid_media: [{ type: "photo", photo }] };
    expect(await receive({ paid_media })).toMatchObject({ media: [{ kind: "image", ref: { fileId: "p" } }] });
  });

  it.each([
    ["animated", { is_animated: true, is_video: false }],
    ["video", { is_animated: false, is_video: true }],
  ])("shows the thumbnail and the emoji of an %s sticker", async (_, kind) => {
    const sticker = { file_id: "moving", emoji: "😭", ...kind, thumbnail: { file_id: "still" } };
    expect(await receive({ sticker })).toMatchObject({
      text: "[sticker: 😭]",
      media: [{ kind: "sticker", mimeType: "image/webp", ref: { fileId: "still" } }],
    });
  });

  it("shows a sticker that does not move itself", async () => {
    const sticker = { file_id: "still", emoji: "👍", is_animated: false, thumbnail: { file_id: "small" } };
    expect(await receive({ sticker })).toMatchObject({ media: [{ ref: { fileId: "still" } }] });
  });
});

it("a command in a group that names the bot mentions it, although it is not registered", async () => {
  await using bench = await openBench();
  const text = "/forecast@signalbox_bot for Monday";
  const entities = [{ type: "bot_command", offset: 0, length: 23 }];
  const chat = { id: -1_001_234, type: "supergroup" } as const;
  await bench.fakeServer.push(textMessage(text, { chat, fields: { entities } }));
  await bench.fakeServer.push(groupMention("hello", "signalbox_bot", { chat }));
  expect(bench.events).toMatchObject([{ type: "message", addressed: "mention", text }, {}]);
});
