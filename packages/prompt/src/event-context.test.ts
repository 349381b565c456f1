import type { MessageEvent } from "@signalbox/channel";
import { expect, it } from "vitest";
import { broughtContext, type EventFacts, eventContext, isRecalled, memoryContext } from "./index.ts";

const EVENT: MessageEvent = {
  type: "message",
  eventId: "e",
  messageId: "m1",
  channel: "feishu",
  account: "main",
  conversation: { id: "oc_1", kind: "group", subject: "Team" },
  address: "oc_1",
  addressed: "mention",
  sender: { id: "ou_1", isBot: false, isSelf: false },
  timestamp: 0,
  text: "What do you think?",
  media: [],
  mentions: [],
  replyTo: { messageId: "m0", text: "Ship it on Friday.", senderId: "ou_2" },
};
const FACTS: EventFacts = {
  role: "member",
  senderName: "Anna",
  isOwnClient: false,
  timeZone: "UTC",
  now: 0,
};

it("tells who wrote where and what is quoted, but not the words themselves, which stand in the history", () => {
  const text = eventContext(EVENT, FACTS);
  for (const part of ['"Anna"', '"Team"', "Ship it on Friday.", '"was_mentioned": true'])
    expect(text).toContain(part);
  expect(text).not.toContain("What do you think?");
});

it("tells a client of the host itself nothing of its own conversation, only what it quotes and brings", () => {
  const text = eventContext(EVENT, { ...FACTS, isOwnClient: true });
  expect(text).toContain("Ship it on Friday.");
  expect(text).toContain('"channel": "feishu"');
  expect(text).not.toContain("Sender (untrusted");
  expect(text).not.toContain('"Team"');
});

it("tells what was read for a message apart from it, each kind in a fence of its own", () => {
  const page = { place: "https://example.com", text: "Roses ``` are red." };
  const text = broughtContext({ pages: [page], history: [{ text: "No, on Monday.", timestamp: 0 }] }, "UTC");
  expect(text).toMatch(
    /Earlier in this group[\s\S]*on Monday\.[\s\S]*Pages the message links to[\s\S]*are red/,
  );
  expect(text.match(/```/g)).toHaveLength(4);
  expect(broughtContext({ files: [] }, "UTC")).toBe("");
});

it("knows its own lines from memory again, whatever stands in them", () => {
  const line = '- [MEMORY.md:1] (lasting) The "boiler" <b>`Bertha`</b>\u200b';
  const text = memoryContext([line, "another"]);
  expect(isRecalled(text, line)).toBe(true);
  expect(isRecalled(text, "The boiler")).toBe(false);
  expect(memoryContext([])).toBe("");
});
