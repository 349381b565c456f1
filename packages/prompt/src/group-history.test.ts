import { expect, it } from "vitest";
import { createGroupBody, getCrossPostKey, getGroupKey, isCrossPostKey, toGroupMessage } from "./index.ts";

const room = { channel: "plain", account: "main", conversation: { id: "room", kind: "group" } } as const;

it("separates threads of a group, except for the message that starts one", () => {
  const inThread = { ...room, conversation: { ...room.conversation, threadId: "t" } };
  const begins = { ...room, conversation: { ...inThread.conversation, beginsThread: true } };
  expect(getGroupKey(inThread)).not.toBe(getGroupKey(room));
  expect(getGroupKey(begins)).toBe(getGroupKey(room));
  expect(getGroupKey({ ...room, account: "other" })).not.toBe(getGroupKey(room));
});

it("separates cross-posts of agents from messages of the group", () => {
  const sent = getCrossPostKey({ ...room, address: "plain:room" });
  expect([sent, getGroupKey(room)].map(isCrossPostKey)).toEqual([true, false]);
});

it("converts stored messages, and damaged ones to messages without text", () => {
  const anna = { id: "anna", name: "Anna", isBot: false, isSelf: false };
  const entry = { id: "m", senderId: "anna", at: 1 };
  expect(
    toGroupMessage({ ...entry, body: createGroupBody({ text: "hello", sender: anna, media: [] }) }),
  ).toEqual({
    messageId: "m",
    senderId: "anna",
    senderName: "Anna",
    timestamp: 1,
    text: "hello",
  });
  const damaged = { text: "", media: [null, 1], references: "none" };
  expect(toGroupMessage({ ...entry, body: damaged })).toMatchObject({
    text: "",
    media: [],
    references: undefined,
  });
  expect(toGroupMessage({ ...entry, body: null })).toEqual({
    messageId: "m",
    senderId: "anna",
    timestamp: 1,
    text: "",
  });
});

it("stores attachments and references of a group message, within limits", () => {
  const picture = { kind: "image", mimeType: "image/png", name: "plan.png", ref: "p" } as const;
  const reference = {
    kind: "forward",
    sender: { name: "Ben" },
    text: "x".repeat(5_000),
    media: [picture],
  } as const;
  const body = createGroupBody({
    text: "",
    sender: { id: "anna", isBot: false, isSelf: false },
    media: Array.from({ length: 9 }, () => picture),
    references: [reference, { ...reference, kind: "reply" }],
  });
  const message = toGroupMessage({ id: "m", senderId: "anna", at: 1, body });
  expect(message.media).toHaveLength(4);
  expect(message.references).toEqual([
    { ...reference, text: `${"x".repeat(4_000)}…` },
    { ...reference, kind: "reply", text: `${"x".repeat(1_000)}…` },
  ]);
});
