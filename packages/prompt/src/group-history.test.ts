import { expect, it } from "vitest";
import { groupKey, groupMessage, groupWords, isSentKey, sentKey } from "./index.ts";

const room = { channel: "plain", account: "main", conversation: { id: "room", kind: "group" } } as const;

it("keeps threads of a group apart, but for the message that begins one, which is said in the group", () => {
  const inThread = { ...room, conversation: { ...room.conversation, threadId: "t" } };
  const begins = { ...room, conversation: { ...inThread.conversation, beginsThread: true } };
  expect(groupKey(inThread)).not.toBe(groupKey(room));
  expect(groupKey(begins)).toBe(groupKey(room));
  expect(groupKey({ ...room, account: "other" })).not.toBe(groupKey(room));
});

it("keeps what agents send to a group apart from what is said there", () => {
  const sent = sentKey({ ...room, address: "plain:room" });
  expect([sent, groupKey(room)].map(isSentKey)).toEqual([true, false]);
});

it("tells of a message what was kept of it, and of one that is damaged no words", () => {
  const anna = { id: "anna", name: "Anna", isBot: false, isSelf: false };
  const entry = { id: "m", senderId: "anna", at: 1 };
  expect(groupMessage({ ...entry, body: groupWords({ text: "hello", sender: anna, media: [] }) })).toEqual({
    messageId: "m",
    senderId: "anna",
    senderName: "Anna",
    timestamp: 1,
    text: "hello",
  });
  const damaged = { text: "", media: [null, 1], references: "none" };
  expect(groupMessage({ ...entry, body: damaged })).toMatchObject({
    text: "",
    media: [],
    references: undefined,
  });
  expect(groupMessage({ ...entry, body: null })).toEqual({
    messageId: "m",
    senderId: "anna",
    timestamp: 1,
    text: "",
  });
});

it("stores attachments and references of a message in a group, within bounds", () => {
  const picture = { kind: "image", mimeType: "image/png", name: "plan.png", ref: "p" } as const;
  const reference = {
    kind: "forward",
    sender: { name: "Ben" },
    text: "x".repeat(5_000),
    media: [picture],
  } as const;
  const body = groupWords({
    text: "",
    sender: { id: "anna", isBot: false, isSelf: false },
    media: Array.from({ length: 9 }, () => picture),
    references: [reference],
  });
  const message = groupMessage({ id: "m", senderId: "anna", at: 1, body });
  expect(message.media).toHaveLength(4);
  expect(message.references).toEqual([{ ...reference, text: "x".repeat(1_000) }]);
});
