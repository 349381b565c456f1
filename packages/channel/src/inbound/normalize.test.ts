import { describe, expect, it } from "vitest";
import { type MessageEvent, normalizeEvent, normalizeTurn } from "../index.ts";

const EVENT: MessageEvent = {
  type: "message",
  eventId: "event-m",
  messageId: "m",
  channel: "plain",
  account: "main",
  conversation: { id: "c", kind: "direct" },
  address: "c",
  addressed: "dm",
  timestamp: 0,
  sender: { id: "ann", isBot: false, isSelf: false },
  text: "hello",
  media: [],
  mentions: [],
};

describe("normalizeEvent", () => {
  it("keeps a valid event unchanged", () => {
    const valid: MessageEvent = {
      ...EVENT,
      text: "a\n𝄞 漢",
      sender: { ...EVENT.sender, name: "张三" },
      media: [{ kind: "image", mimeType: "image/png", name: "a.png", ref: 1 }],
      mentions: [{ id: "b", name: "Bot", isSelf: true }],
      references: [{ kind: "reply", messageId: "r", text: "before", sender: { name: "Ann" }, media: [] }],
      forwarded: {},
    };
    expect(normalizeEvent(valid)).toEqual(valid);
  });

  it("normalizes line endings and repairs surrogate pairs in every text", () => {
    const odd = "a\r\nb\rc\u2028d\ud800\0";
    const event = normalizeEvent({
      ...EVENT,
      text: odd,
      conversation: { ...EVENT.conversation, subject: odd },
      sender: { ...EVENT.sender, name: odd },
      media: [{ kind: "file", mimeType: "text/plain", name: odd, ref: odd }],
      mentions: [{ id: odd, name: odd, isSelf: false }],
      references: [
        {
          kind: "reply",
          messageId: odd,
          text: odd,
          sender: { name: odd },
          media: [{ kind: "file", mimeType: "text/plain", name: odd, ref: odd }],
        },
      ],
      forwarded: { from: odd },
    });
    const line = "a b c d\ufffd";
    expect(event).toMatchObject({
      text: "a\nb\nc\nd\ufffd",
      conversation: { subject: line },
      sender: { name: line },
      // Ids and references are sent back to the platform unchanged.
      media: [{ name: line, ref: odd }],
      mentions: [{ id: odd, name: line }],
      references: [
        {
          messageId: odd,
          text: "a\nb\nc\nd\ufffd",
          sender: { name: line },
          media: [{ name: line, ref: odd }],
        },
      ],
      forwarded: { from: line },
    });
    expect(normalizeTurn({ instructions: odd, history: [{ role: "user", text: odd }] })).toEqual({
      instructions: "a\nb\nc\nd\ufffd",
      history: [{ role: "user", text: "a\nb\nc\nd\ufffd" }],
    });
  });

  it("replaces missing and invalid values of an untyped channel", () => {
    const bare = JSON.parse(
      '{ "conversation": { "kind": "forum" }, "sender": {}, "text": null, "media": [{ "kind": "hologram" }] }',
    );
    expect(normalizeEvent({ ...EVENT, mentions: undefined, ...bare })).toMatchObject({
      text: "",
      conversation: { kind: "group" },
      media: [{ kind: "file", mimeType: "application/octet-stream" }],
      mentions: [],
    });
  });
});
