import type { MessageEvent } from "@signalbox/channel";
import { expect, it } from "vitest";
import { type EventFacts, eventContext } from "./index.ts";

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
  history: [],
  pages: [],
  files: [],
  memory: [],
};

it("tells who wrote where and what is quoted, but not the words themselves, which stand in the history", () => {
  const text = eventContext(EVENT, { ...FACTS, memory: ["Friday is a holiday."] });
  for (const part of [
    '"Anna"',
    '"Team"',
    "Ship it on Friday.",
    "Friday is a holiday.",
    '"was_mentioned": true',
  ])
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
